"""The verbs of the command line: each calls a public function, and says what came of it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._base.arguments import Anytime, Trials
from .._base.errors import BadArgument, arguments_named, parts_of, warn_user
from .._base.reading import BadCall
from ..inference.intervals import canonical_interval
from ..metrics.cells import check_two_columns
from ..results.rendering import Table
from ..results.result import plain
from ..results.wording import counted
from .columns import FileRows, metrics_of, name_list, needs_threshold, positive_options, rows_of


class Answer(NamedTuple):
    """Results of a verb, in the forms in which they are shown and written.

    Attributes
    ----------
    title : str
        Title of a page.
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


# ------------------------------------------------------------------ one function per verb


def score(call: Namespace) -> Answer:
    """Score one system, or each of several."""
    from ..evaluation import bootstrap_score
    from ..results import ResultTable

    systems = getattr(call, "systems", None)
    rows = _rows_of_call(call, systems)
    results = {}
    for name, predicted in rows.predictions.items():
        with arguments_named({"y_pred": f"systems[{name!r}]"} if systems else {}):
            results[name] = _call_function(bootstrap_score, call, rows, predicted)
    shown = ResultTable(results) if systems else next(iter(results.values()))
    answer = _answer_for(call, rows, shown)
    if isinstance(shown, ResultTable):
        answer = answer._replace(sentences=tuple(shown.claim().splitlines()))
    return answer


def compare(call: Namespace) -> Answer:
    """Compare all systems, or all with one."""
    from ..comparison import compare_systems

    rows = _rows_of_call(call, call.systems)
    _check_systems(rows)
    if call.reference is not None and call.reference not in rows.predictions:
        system_names = ", ".join(rows.predictions)
        raise BadCall(f"--reference {call.reference!r} is none of the systems: {system_names}")
    shown = _call_function(compare_systems, call, rows, rows.predictions, reference=call.reference)
    return _answer_for(call, rows, shown)


# Exit codes of verdicts, and of open ones as the option says.
_CODES = {"pass": 0, "fail": 1, "inconclusive": 3, "warn": 0}


def gate(call: Namespace) -> Answer:
    """Ask whether a candidate is not worse than a reference by more than a margin."""
    from ..comparison import compare_systems
    from ..comparison.arguments import copy_of_truth_note
    from ..results.comparison import verdict_table
    from ..study.rows import Rows as InMemory

    if call.candidate == call.reference:
        raise BadCall("--candidate and --reference are the same column")
    rows = _rows_of_call(call, [call.candidate, call.reference])
    _check_direction(call)
    shown = _call_function(compare_systems, call, rows, rows.predictions, adjust=None)
    verdict = shown.pairs[0].verdict(call.margin)
    candidate = InMemory(rows.y_true, rows.predictions[call.candidate], None, None)
    for note in copy_of_truth_note(call.candidate, candidate, "caution"):
        warn_user(note.text)
    answer = _answer_for(call, rows, shown)
    outcome = verdict.outcome
    if outcome == "inconclusive" and call.inconclusive is not None:
        outcome = call.inconclusive
    record = plain(vars(verdict) | {"interval": verdict.interval.to_dict()}, for_json=True)
    return answer._replace(
        text=f"{verdict.statement}\n\n{answer.text}",
        record=answer.record | {"verdict": record},
        statement=verdict.statement,
        tables=(verdict_table(shown, verdict),),
        code=_CODES[outcome],
        warns=outcome == "warn",
    )


def rank(call: Namespace) -> Answer:
    """Rank systems."""
    from ..comparison import compare_systems
    from ..plots import RankDisplay

    rows = _rows_of_call(call, call.systems)
    _check_systems(rows)
    _check_direction(call)
    result = _call_function(compare_systems, call, rows, rows.predictions)
    ranks, answer = result.ranks(), _answer_for(call, rows, result)
    may_be_best = ", ".join(result.top())
    return answer._replace(
        shown=(ranks, result),
        text=str(ranks),
        record=answer.record | {"ranks": ranks.to_dict()},
        facts=[("may be the best", may_be_best), *answer.facts],
        picture=lambda: RankDisplay.from_result(result),
    )


def curve(call: Namespace) -> Answer:
    """Estimate a curve with its band."""
    from ..curves import bootstrap_curve

    rows = _rows_of_call(call, call.systems, are_scores=True)
    predicted = rows.predictions if call.systems else next(iter(rows.predictions.values()))
    shown = _call_function(bootstrap_curve, call, rows, predicted, curve=call.curve)
    return _answer_for(call, rows, shown)


def plan(call: Namespace) -> Answer:
    """Say how many rows are enough, from a pilot or an expected share."""
    from ..planning import plan_evaluation

    pilot: Any = None
    answer: Answer | None = None
    if call.file is None and call.proportion is None:
        raise BadCall("FILE is missing, or --proportion in its place")
    if call.file is not None and call.proportion is not None:
        raise BadCall("--proportion replaces FILE: give one of them")
    if call.file is None:
        columns = ("y_true", "y_pred", "candidate", "reference", "weights", "groups", "strata")
        for name in (*columns, "average_over", "block_length"):
            if getattr(call, name) is not None:
                option = name.replace("_", "-")
                raise BadCall(f"--{option} belongs to a FILE, and there is none")
    elif call.candidate is None and call.reference is None:
        for name in ("difference", "margin"):
            if getattr(call, name) is not None:
                raise BadCall(f"--{name} needs a pair: --candidate and --reference")
        if call.y_pred is None:
            raise BadCall("--y-pred is missing, or --candidate and --reference")
        answer = score(call)
        pilot = answer.settings
    else:
        if call.y_pred is not None or None in (call.candidate, call.reference):
            raise BadCall("a pair needs --candidate and --reference, and no --y-pred")
        from ..comparison import compare_systems

        rows = _rows_of_call(call, [call.candidate, call.reference])
        result = _call_function(compare_systems, call, rows, rows.predictions, adjust=None)
        pilot, answer = result.pairs[0], _answer_for(call, rows, result)
    planned = plan_evaluation(
        pilot,
        half_width=call.half_width,
        difference=call.difference,
        margin=call.margin,
        power=call.power,
        confidence_level=call.confidence_level,
        proportion=call.proportion,
    )
    return Answer(
        title=planned._heading(),
        shown=(planned,),
        text=planned.summary(),
        record=planned.to_dict(),
        facts=[] if answer is None else answer.facts,
        picture=planned.plot,
        settings=None if answer is None else answer.settings,
    )


def check(call: Namespace) -> Answer:
    """Check the scores and differences of a printed table."""
    from ..results.printed import check_table

    shown = check_table(
        call.file, n=call.n, decimals=call.decimals, confidence_level=call.confidence_level
    )
    return Answer(
        title=f"{shown._heading()} ({Path(call.file).name})",
        shown=(shown,),
        text=shown.summary(),
        record=shown.to_dict(),
        facts=[("file", call.file)],
        picture=shown.plot,
        settings=shown,
    )


# What carries out a call, by its verb: the call is what the parser made of it.
VERBS: dict[str, Callable[[Namespace], Answer]] = {
    "score": score,
    "compare": compare,
    "gate": gate,
    "rank": rank,
    "curve": curve,
    "plan": plan,
    "check": check,
}


# ------------------------------------------------------------------ steps


def _rows_of_call(
    call: Namespace, systems: list[str] | None, *, are_scores: bool = False
) -> FileRows:
    """Read the rows of a call, for several systems or for one."""
    if call.file is None:
        # An option that takes several columns takes a file behind it for one of them.
        raise BadCall(f"FILE is missing: it comes first, as in skboot {call.verb} FILE ...")
    if call.y_true is None and (are_scores or name_list(call.metric) != ["mean"]):
        raise BadCall("--y-true is missing: the column of the truth (--metric mean needs none)")
    metrics = name_list(getattr(call, "metric", None))
    if metrics == ["mean"] and call.y_true is not None:
        raise BadCall("--metric mean is that of a column of values: leave --y-true out")
    for metric in metrics:
        if metrics.count(metric) > 1:
            raise BadCall(f"--metric {metric!r} is named twice")
    call.metric = metrics_of(call)
    if call.same_population and len(call.groups or ()) != 2:
        raise BadCall("--same-population needs two columns: --groups COLUMN COLUMN")
    if systems is None:
        return rows_of(call, {"": call.y_pred}, are_scores=are_scores)
    repeated = next((name for name in systems if systems.count(name) > 1), None)
    if repeated is not None:
        raise BadCall(f"the column {repeated!r} is named twice as a system")
    return rows_of(call, {name: [name] for name in systems}, are_scores=are_scores)


def _call_function(
    function: Callable[..., Any], call: Namespace, rows: FileRows, predicted: Any, **options: Any
) -> Any:
    """Call a public function, and put its errors into the words of the command line."""
    # The options of the columns, and those of the call.
    names = ("block_length", "greater_is_better", "n_resamples", "confidence_level")
    settings = {name: getattr(call, name, None) for name in (*names, "interval")}
    metric = name_list(getattr(call, "metric", None))
    settings["metric"] = metric[0] if len(metric) == 1 else metric or None
    options |= {name: value for name, value in settings.items() if value is not None}
    options |= rows.options | {"random_state": call.seed}
    if call.same_population:
        options["groups"] = Trials(*options["groups"].T)
    first_look = getattr(call, "first_look", None)
    if (first_look is None) == (canonical_interval(options.get("interval")) == "anytime"):
        raise BadCall(
            "--interval anytime and --first-look go together: --interval anytime --first-look 100 "
            "is the interval that holds at every look from 100 rows on"
        )
    try:
        if first_look is not None:
            options["interval"] = Anytime(first_look)
        is_column = rows.y_true is not None and rows.y_true.ndim == 1
        if is_column and np.ndim(predicted) == 2 and predicted.min() >= 0 and predicted.max() <= 1:
            # Two columns of numbers in [0, 1] that are hardly probabilities of both classes.
            check_two_columns("y_pred", predicted, "be a column, or probabilities of each class")
        return function(rows.y_true, predicted, **options)
    except ValueError as error:
        bad = parts_of(error)
        if bad is None:
            raise
        raise _argument_as_typed(bad, call, rows).error() from None


def _argument_as_typed(bad: BadArgument, call: Namespace, rows: FileRows) -> BadArgument:
    """Return an argument as it was given, with advice for the command line in place of Python."""
    argument, bracket, system = bad.name.partition("[")
    name, advice = bad.name, bad.advice
    if argument in ("y_pred", "y_preds", "y_score") and bracket:
        # That of a system by the option that names this one.
        pair = ("candidate", "reference") if "systems" not in call else ()
        option = (side for side in pair if f"{getattr(call, side)!r}]" == system)
        name = f"{next(option, 'systems')}[{system}"
    columns = getattr(call, "y_pred", None) or ()
    if bad.name.startswith("y_pred") and needs_threshold(call, rows):
        advice = "Give --threshold 0.5, or a metric of scores, such as --metric roc_auc."
    elif bad.name == "y_pred" and len(columns) > 1:
        systems = f"--systems {shlex.join(columns)}"
        if "systems" not in call:
            systems = "--candidate {} --reference {}".format(*map(shlex.quote, columns))
        advice = f"{advice} For the predictions of several systems give {systems}."
    elif bad.name == "y_true" and rows.y_true is not None and call.pos_label is None:
        labels = positive_options(rows.y_true)
        advice = f"Name the positive label: {labels}." if labels else advice
    return bad._replace(name=name, advice=advice)


def _check_systems(rows: FileRows) -> None:
    if len(rows.predictions) < 2:
        raise BadCall("--systems needs two columns or more; for one use skboot score")


def _check_direction(call: Namespace) -> None:
    if name_list(call.metric) == ["mean"] and call.greater_is_better is None:
        raise BadCall("--metric mean: say --greater-is-better or --smaller-is-better")


def _answer_for(call: Namespace, rows: FileRows, shown: Any) -> Answer:
    """Return what is said of a result, a comparison or a table of them."""
    settings = shown
    while isinstance(settings, Mapping):
        settings = next(iter(settings.values()))
    facts = [
        ("file", f"{call.file}, {counted(rows.n_samples, 'row')}"),
        ("seed", str(call.seed)),
    ]
    if getattr(call, "y_pred", None):
        facts.insert(1, ("scored", ", ".join(call.y_pred)))
    if call.pos_label is not None:
        facts.insert(1, ("positive label", call.pos_label))
    if getattr(call, "threshold", None) is not None:
        facts.insert(1, ("threshold", f"{call.threshold:g}: scores from it on are positive"))
    return Answer(
        title=f"{shown._heading()} ({Path(call.file).name})",
        shown=(shown,),
        text=shown.summary(),
        record=shown.to_dict(),
        facts=facts,
        picture=shown.plot,
        settings=settings,
    )
