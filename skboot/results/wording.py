"""Words that results of every basis share: numbers with their digits, reasons, lines of a table.

What differs from basis to basis, such as the sentence for a paper, is in `skboot.results.basis`.

A confidence interval is never called a probability, nor a share of test sets. Where numbers are
undefined, the first of them gives the reason, once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

# Re-exported, so that modules beside this one take words from one place.
from .._base.errors import counted as counted
from .._base.errors import plural as plural
from .._base.errors import thousands
from ..inference.automatic import NO_LIMITS, TOO_FEW, resamples_vary
from ..inference.intervals import title_of, words_of
from ..resampling.design import DESIGNS, GROUPS, DesignWords
from . import rendering

if TYPE_CHECKING:
    from .comparison import ComparisonResult
    from .result import EvaluationResult, Shown

_DIRECTIONS = {True: "larger is better", False: "smaller is better", None: ""}
# Title of a column of tables, which they have where the reference of a score is known.
_BASELINE = "baseline"
_ACRONYMS = frozenset(
    ("auc", "d2", "eer", "f1", "fnr", "fpr", "mae", "mcc", "mse", "npv", "ovo", "ovr", "ppv", "r2")
) | {"rmse", "roc", "tnr", "tpr"}
_CAPITALIZED = frozenset(("brier", "cllr", "cohen", "jaccard", "matthews", "poisson"))
# Names that are no noun for what they measure; "metric" is that of a lambda.
_WHOLE_NAMES = {"mean": "mean value", "metric": "the metric", "Brier": "Brier score"}
# Largest number of scores, or systems, that are all named before a note on them.
_MOST_HOLDERS = 6


def spoken(metric: str) -> str:
    """Write the name of a metric as words: "roc_auc" is "ROC AUC", "neg_" is "negated"."""
    match = re.match(r"[a-z0-9_]+(?= |$)", metric)
    if not match:
        return metric
    words = [word for word in match[0].split("_") if word]
    words = [word.upper() if word in _ACRONYMS else word for word in words]
    words = [word.capitalize() if word in _CAPITALIZED else word for word in words]
    words = ["correlation coefficient" if word == "corrcoef" else word for word in words]
    if words[:1] == ["neg"]:
        words[0] = "negated"
    name, ending = " ".join(words), metric[match.end() :]
    if re.match(r" \(| gap|$", ending):
        # A name of the user's, such as "mean IoU", has no rest of this kind.
        name = _WHOLE_NAMES.get(name, name)
    return (name or match[0]) + ending


def direction(greater_is_better: bool | None) -> str:
    """Say which direction is good; empty if unknown."""
    return _DIRECTIONS[greater_is_better]


def width_of(result: EvaluationResult) -> float:
    """Return the width of the interval; without one, what its decimals are made of instead."""
    low, high = result.confidence_interval
    if math.isfinite(high - low) and rendering.differ(low, high):
        return high - low
    # Nothing to go by but the spread, or three digits.
    spread, size = result.standard_error, abs(result.estimate)
    if math.isfinite(spread) and rendering.differ(result.estimate + spread, result.estimate):
        return 4 * spread
    return size / 10 if math.isfinite(size) and size else 0.1


def scale_of(result: EvaluationResult) -> rendering.Scale:
    """Return how many decimals the numbers of a result have, in sentences."""
    width = width_of(result)
    estimates = [result.estimate]
    if (corrected := result._basis.corrected_estimate(result)) is not None:
        estimates.append(corrected)
    anchors = (0.0, *result._evidence.facts.bounds)
    return rendering.Scale.of(estimates, [result.confidence_interval], anchors, width=width)


def limits(result: EvaluationResult, *, marked: bool = True) -> str:
    """Write both limits, as "0.801 to 0.897"; marked: say so where they have no width."""
    return rendering.limits(result.confidence_interval, scale_of(result), marked=marked)


def estimate(result: EvaluationResult) -> str:
    """Write the estimate with the digits that suit its interval."""
    return rendering.number(result.estimate, scale_of(result))


def short(result: EvaluationResult) -> str:
    """Write metric, estimate and interval on one line."""
    method = title_of(result.confidence_interval.method)
    interval = f"{result._basis.interval_label(result)} {limits(result)}, {method}"
    return f"{result.metric} {estimates(result)} ({interval})"


def estimates(result: EvaluationResult) -> str:
    """Write the estimate, and beside it the corrected one that its interval belongs to."""
    corrected = corrected_estimate(result)
    beside = "" if corrected is None else f", corrected for bias {corrected}"
    return f"{estimate(result)}{beside}"


def corrected_estimate(result: EvaluationResult) -> str | None:
    """Write the estimate without its bias where the interval leaves out the estimate."""
    corrected = result._basis.corrected_estimate(result)
    return None if corrected is None else rendering.number(corrected, scale_of(result))


# ------------------------------------------------------------------ parts of sentences and facts


def name_and_rows(result: EvaluationResult) -> tuple[str, str]:
    """Return the metric, as a sentence begins, and how many rows it is of."""
    name = capitalized(spoken(result.metric)) + average_over(result)
    return name, counted(n_scored(result), "test row")


def n_scored(result: EvaluationResult | ComparisonResult) -> int:
    """Return how many rows a score is of: those with a human label where a judge is of no use."""
    facts = result._provenance.facts
    return facts.n_labelled if facts.proxy_weight == 0 else result.n_samples


def expected(result: EvaluationResult | ComparisonResult, where: str) -> str:
    """Return what is expected of a method, as a sentence begins."""
    average = average_over(result)
    average = average and f",{average},"
    return f"The expected {spoken(result.metric)} of the method {where}{average}"


def average_over(result: EvaluationResult | ComparisonResult) -> str:
    """Return over how many tasks a metric is averaged, to be read after its name."""
    n_tasks = result._provenance.facts.n_tasks
    if len(n_tasks) > 1:
        return f" averaged over {listed([thousands(n) for n in n_tasks])} tasks"
    return f" averaged over {counted(n_tasks[0], 'task')}" if n_tasks else ""


# What new data are made of where whole units are drawn, by the name of a unit.
_NEW_UNITS = {
    "group": "groups from the same source",
    "member of each factor": "members of both factors",
    "member": "members of the same population",
}


def new_data(result: EvaluationResult) -> str:
    """Return what the score of a system is for."""
    words, units = result._evidence.drawn.design, plural(result.unit)
    if words.averages_tasks == "drawn":
        return f"new {'groups of tasks' if result.unit == 'group' else units} like these"
    if words.averages_tasks:
        return f"new {f'{units} in' if words.units_are_groups else 'data from'} these tasks"
    return new_units(result.unit, weighted=result._provenance.facts.weighted)


def new_units(unit: str, *, weighted: bool) -> str:
    """Return what a number is for whose units have this name, and which averages no tasks."""
    is_named = all(words.unit != unit for words in DESIGNS.values())
    source = f"{plural(unit) if is_named else 'data'} from the same source"
    new = f"new {_NEW_UNITS.get(unit, source)}"
    # Weights may stand for another source than that of the rows.
    return new.replace("from the same source", "weighted like these rows") if weighted else new


def judged(result: EvaluationResult | ComparisonResult, n_rows: int) -> list[tuple[str, str]]:
    """Return what human labels and those of a judge are there, as label and text."""
    facts = result._provenance.facts
    if facts.proxy_weight is None:
        return []
    labelled = (
        f"{thousands(facts.n_labelled)} of {counted(n_rows, 'row')} by humans, all by a judge"
    )
    return [
        ("labelled", labelled),
        ("weight of the judge", rendering.number(facts.proxy_weight, rendering.Scale(2))),
        ("human labels alone", facts.labels_alone),
        ("assumed", "the rows with a human label are a random sample of all rows"),
    ]


def if_random_sample(result: EvaluationResult | ComparisonResult) -> str:
    """Return a sentence on what is assumed of human labels, empty without a judge."""
    facts = result._provenance.facts
    if facts.proxy_weight is None:
        return ""
    rows = f"{thousands(facts.n_labelled)} of {counted(result.n_samples, 'row')}"
    sentence = f"The judge's labels were corrected by human labels of {rows}, which"
    if not facts.proxy_weight:
        sentence = f"The judge's labels were not used; the rows with a human label, {rows},"
    return f" {sentence} are assumed to be a random sample of all rows."


def conditional_on(result: EvaluationResult | ComparisonResult, end: str = "") -> str:
    """Return what is held fixed as part of a sentence with its end, empty if nothing is."""
    return f", conditional on {listed(result.held_fixed)}{end}" if result.held_fixed else ""


def no_width(result: EvaluationResult) -> str:
    """Return a sentence on an interval without width, empty if it has one."""
    low, high = result.confidence_interval
    if low != high:
        return ""
    why = "Every resample gave the same value"
    if resamples_vary(result._evidence):
        why = "Both limits fall on the same value"
    return (
        f" {why}, so that the interval has no width; "
        "this does not show that the score is known exactly."
    )


def is_untrained(result: EvaluationResult | ComparisonResult) -> bool:
    """Whether runs that differ in their seed need not have been trained: their values are given."""
    facts = result._provenance.facts
    return facts.varied == "seed" and facts.runs_of_values


def has_limits(result: EvaluationResult) -> bool:
    """Whether both limits are defined."""
    return not any(map(math.isnan, result.confidence_interval))


def has_too_few_values(result: EvaluationResult) -> bool:
    """Whether fewer than two resamples gave a value, although the data have one."""
    return not math.isnan(result.estimate) and result.n_resamples - result.n_undefined < 2


def reason(result: EvaluationResult) -> str:
    """Return why a number is undefined, without a full stop."""
    if has_too_few_values(result):
        return TOO_FEW
    if result.notes:
        return " ".join(result._basis.reasons(result)).rstrip(".")
    if math.isnan(result.estimate):
        return "the metric has no value on these data"
    return f"the {words_of(result.confidence_interval.method)} has no limits on these data"


def notes_beside_reason(result: EvaluationResult) -> list[tuple[str, str]]:
    """Return the notes but those that the reason of an undefined number gives already."""
    reasons: set[str] = set()
    if math.isnan(result.estimate + sum(result.confidence_interval)):
        reasons = {NO_LIMITS} if has_too_few_values(result) else {*result._basis.reasons(result)}
    return [("note", note) for note in result.notes if note not in reasons]


def number(result: EvaluationResult, value: float) -> str:
    """Return a number with one digit more than the estimate."""
    return rendering.number(value, scale_of(result) + 1)


def bias(result: EvaluationResult) -> str:
    """Return the bias with the decimals of the standard error, which it is read beside.

    It is 0 where it is less than a thousandth of that, as through rounding.
    """
    size, spread = result.bias, result.standard_error
    digits = (scale_of(result) + 1).decimals(spread)
    if not 0 < 1e-3 * spread < abs(size):
        return rendering.number(size, digits)
    return rendering.number(size, rendering.Scale(digits, {size: spread}, (0.0,)))


def baseline(result: EvaluationResult) -> float | None:
    """Return the score of the best system that ignores its inputs, if it says anything.

    None where it is unknown, and where such a system reaches the best value there is, as it does
    by recall.
    """
    value, (low, high) = result.naive_estimate, result._evidence.facts.bounds
    return None if value == (low if result.greater_is_better is False else high) else value


def is_worse(estimate: float, naive: float | None, greater_is_better: bool | None) -> bool:
    """Whether a score is worse than the baseline, by more than rounding."""
    if naive is None or greater_is_better is None:
        return False
    lacking = (naive - estimate) if greater_is_better else (estimate - naive)
    return lacking > 1e-12 + 1e-9 * abs(naive)


def naive_text(result: EvaluationResult) -> str:
    """Return the score of the best system that ignores its inputs."""
    value = result.naive_estimate
    if value is None or math.isnan(value):
        return "undefined: no system that ignores its inputs has a value on these rows"
    text = rendering.number(value, scale_of(result))
    where = " in each task" if result._provenance.facts.n_tasks else ""
    return f"{text} (best system that ignores its inputs{where}, on the same rows)"


# ------------------------------------------------------------------ a table of scores, a drawing


def table_of(
    results: Sequence[EvaluationResult],
    options: rendering.TableOptions,
    names: Sequence[Sequence[str]] = (),
    titles: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> rendering.Table:
    """Return the table of some results.

    Parameters
    ----------
    results : sequence of EvaluationResult
        One per row.
    options : rendering.TableOptions
        What is asked of it.
    names : sequence of sequences of str
        What each row begins with, before its metric.
    titles : sequence of str
        Titles of these columns.
    metrics : sequence of str
        How the metric of each row is called; by its name when empty.

    Returns
    -------
    rendering.Table
        Words on the left, numbers on the right.
    """
    kinds = {(r.confidence_interval.confidence_level, r._basis.column_name(r)) for r in results}
    shared = len(kinds) == 1
    interval = "interval"
    if shared:
        [(level, name)] = kinds
        interval = f"{rendering.percent(level)} {name}"
    header = [*titles, "metric", "method", "estimate", interval]
    header += ["standard error", _BASELINE, "units"]
    names = names or [()] * len(results)
    metrics = [spoken(metric) for metric in metrics or [result.metric for result in results]]
    rows = []
    for keys, metric, result in zip(names, metrics, results, strict=True):
        digits = column_of(result, decimals_in(options, result), options)
        naive, limits = baseline(result), rendering.limits(result.confidence_interval, digits)
        rows.append(
            [
                *keys,
                metric,
                title_of(result.confidence_interval.method),
                rendering.number(result.estimate, digits),
                limits if shared else f"{limits} ({result._basis.interval_label(result)})",
                rendering.number(result.standard_error, digits + 1),
                "" if naive is None else rendering.number(naive, digits),
                units(result),
            ]
        )
    columns = [k for k, title in enumerate(header) if title != _BASELINE or any(r[k] for r in rows)]
    rows = [[row[k] for k in columns] for row in rows]
    return rendering.Table([header[k] for k in columns], rows, len(titles) + 2)


def decimals_of(panels: Sequence[Shown]) -> rendering.Decimals:
    """Return the decimals of a metric, the same in the tables of all that is shown.

    No two systems that can be distinguished are written alike, unless that takes more than two
    digits more.
    """
    decimals = rendering.Decimals.of(width for shown in panels for width in shown._widths())
    for more in range(rendering.MOST_MORE_DIGITS + 1):
        if all(shown._tells_apart(decimals + more) for shown in panels):
            return decimals + more
    return decimals


def decimals_in(options: rendering.TableOptions, shown: Shown) -> rendering.Decimals:
    """Return the decimals of a table: those of all panels of its metric, or its own."""
    return options.shared_decimals.get(shown._metric_name) or decimals_of([shown])


def column_of(
    result: EvaluationResult, decimals: rendering.Decimals, options: rendering.TableOptions
) -> rendering.Fixed:
    """Return how the numbers of a result are written in a table."""
    digits = decimals.at(width_of(result)) if options.digits is None else options.digits
    return rendering.Fixed(digits, (0.0, *result._evidence.facts.bounds))


def digits_of(
    result: EvaluationResult, decimals: Mapping[str, rendering.Decimals]
) -> rendering.Fixed:
    """Return how a picture writes the numbers of a result: as a table of all that it shows does."""
    options = rendering.TableOptions(shared_decimals=decimals)
    return column_of(result, decimals_in(options, result), options)


def strip_of(result: EvaluationResult) -> rendering.Strip:
    """Return the drawing of a result."""
    scale, naive = scale_of(result), baseline(result)
    low, high = result.confidence_interval
    return rendering.Strip(
        replicates=result._evidence.sorted_replicates,
        estimate=result.estimate,
        low=low,
        high=high,
        naive=naive,
        scale=scale,
        title=f"Bootstrap distribution of {spoken(result.metric)}",
        description=result.claim(),
    )


# ------------------------------------------------------------------ words


def units(result: EvaluationResult) -> str:
    """Say how many units of what kind were resampled, and how long blocks of rows in time are."""
    if isinstance(result.n_units, int):
        if result._provenance.facts.proxy_weight:
            return f"{counted(result.n_units, f'labelled {result.unit}')} and all others"
        block_length = result._provenance.facts.block_length
        of_rows = f" of {counted(block_length, 'row')}" if block_length else ""
        name = name_beside(result._evidence.drawn.design)
        return counted(result.n_units, result.unit) + name + of_rows
    numbers = " and ".join(thousands(n) for n in result.n_units)
    return f"{numbers} {plural(result.unit).replace('each factor', 'the two factors')}"


def name_beside(words: DesignWords) -> str:
    """Return the name of groups that stands beside the word for any group; "" if it is a noun."""
    return f' ("{words.named}")' if words.named and words.unit == GROUPS.unit else ""


def holders_of_note(names: Sequence[str], everyone: Sequence[str]) -> str:
    """Return what stands before a note: the scores, or systems, that it holds for; "" for all."""
    holders = set(names)
    exceptions = [name for name in everyone if name not in holders]
    if not exceptions:
        return ""
    if len(names) <= _MOST_HOLDERS:
        return f"{'; '.join(names)}: "
    if len(exceptions) <= 2:
        return f"all but {'; '.join(exceptions)}: "
    first_names = names[: _MOST_HOLDERS - 1]
    return f"{'; '.join(first_names)} and {len(names) - len(first_names)} others: "


def units_and_rows(result: EvaluationResult) -> str:
    """Return how many units were resampled, and with how many rows."""
    if result._evidence.drawn.design.units_are_rows:
        return units(result)
    rows = counted(n_scored(result), "row")
    if result._provenance.facts.block_length:
        return f"{units(result)}, {rows} in all"
    return f"{units(result)} with {rows}"


def listed(items: Sequence[str]) -> str:
    """Return items as "a, b and c"."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def named(names: Sequence[str], most: int = 6) -> str:
    """List names; of many the first, and the number of the others."""
    if len(names) <= most:
        return listed(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"


def capitalized(text: str) -> str:
    """Return a text as a sentence begins."""
    match = re.match(r"\w+", text)
    # Names such as "mAP" stay as they are.
    return text[:1].upper() + text[1:] if match and match[0].islower() else text
