"""What is said of a result: its title, its facts, a sentence for a paper, a line of a table.

A confidence interval is never called a probability, nor a share of test sets. Where numbers are
undefined, the first of them gives the reason, once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from ..inference.automatic import NO_LIMITS, TOO_FEW, left_out_estimate, resamples_vary
from ..inference.few_groups import effective_size
from ..inference.intervals import WITHOUT_RESAMPLES, words_of
from . import gap_wording, rendering
from .drawing import Strip

if TYPE_CHECKING:
    from .result import EvaluationResult

_ESTIMANDS = {
    "system": "performance of this trained system on new data from the same source",
    "method": "expected performance of the method at this training-set size",
    "next_run": "score of the next run: new training set, new seed, as many new test rows",
    "pooled": "spread of single runs, each trained on a bootstrap sample",
}
_INTERVALS = {"next_run": "prediction interval", "pooled": "spread of single runs"}
_DIRECTIONS = {True: "larger is better", False: "smaller is better", None: ""}
_ACRONYMS = frozenset(
    ("auc", "d2", "eer", "f1", "fnr", "fpr", "mae", "mcc", "mse", "ovo", "ovr", "r2")
) | {"rmse", "roc", "tnr", "tpr"}
_NOT_STORED = "the interval cannot be made again from what is stored"


def title(result: EvaluationResult) -> str:
    """Say which metric on how many rows."""
    if result.refits is not None:
        rows = _counted(result.n_samples, "row")
        return f"{_capitalized(spoken(result.metric))} of a method on {rows}"
    return f"{_capitalized(spoken(result.metric))} on {_counted(result.n_samples, 'test row')}"


def spoken(metric: str) -> str:
    """Write the name of a metric as words: "roc_auc" is "ROC AUC", "neg_" is "negated"."""
    found = re.match(r"[a-z0-9_]+(?= |$)", metric)
    if not found:
        return metric
    words = [word for word in found[0].split("_") if word]
    words = [word.upper() if word in _ACRONYMS else word for word in words]
    if words[:1] == ["neg"]:
        words[0] = "negated"
    if words == ["mean"]:
        words = ["mean of the row values"]
    return (" ".join(words) or found[0]) + metric[found.end() :]


def direction(greater_is_better: bool | None) -> str:
    """Say which direction is good; empty if unknown."""
    return _DIRECTIONS[greater_is_better]


def short_interval_name(result: EvaluationResult) -> str:
    """Say what kind of interval it is: "CI", unless it is none."""
    if gap_wording.is_gap(result):
        return "simultaneous CI"
    if result.is_confidence_interval and result.estimand not in _INTERVALS:
        return "CI"
    return _INTERVALS.get(result.estimand, "interval")


def digits_of(result: EvaluationResult) -> int:
    """Digits after the point that the interval's width supports."""
    low, high = result.confidence_interval
    if not _apart(low, high):
        # Nothing to go by but the spread, or three digits.
        spread, size = result.standard_error, abs(result.estimate)
        known = _apart(result.estimate, result.estimate + spread)
        low, high = 0.0, 4 * spread if known else size / 10 if _apart(0, size) else 0.1
    shown = (result.estimate, *result.confidence_interval)
    return rendering.digits_for(low, high, shown, (0.0, *result.evidence.bounds))


def _apart(low: float, high: float) -> bool:
    """Whether two finite numbers differ by more than rounding."""
    return math.isfinite(low + high) and high - low > 1e-9 * max(abs(low), abs(high))


def limits(result: EvaluationResult, *, marked: bool = True) -> str:
    """Write both limits, as "0.801 to 0.897"; marked: say so where they have no width."""
    digits = digits_of(result)
    low, high = result.confidence_interval
    if math.isnan(low) or math.isnan(high):
        return "undefined"
    mark = " (no width)" if marked and low == high else ""
    return f"{rendering.number(low, digits)} to {rendering.number(high, digits)}{mark}"


def estimate(result: EvaluationResult) -> str:
    """Write the estimate with the digits that suit its interval."""
    return rendering.number(result.estimate, digits_of(result))


def corrected_estimate(result: EvaluationResult) -> str | None:
    """Write the estimate without its bias where the interval leaves out the estimate itself."""
    found = result.confidence_interval
    if result.refits is not None or (result.over_runs is not None and result.estimand != "system"):
        return None
    if left_out_estimate(found, result.evidence) is None:
        return None
    return rendering.number(result.estimate - result.bias, digits_of(result))


def short(result: EvaluationResult) -> str:
    """Write estimate and interval on one short line."""
    level = rendering.percent(result.confidence_interval.confidence_level)
    method = result.confidence_interval.method
    interval = f"{level} {short_interval_name(result)} {limits(result)}, {method}"
    corrected = corrected_estimate(result)
    beside = "" if corrected is None else f", corrected for bias {corrected}"
    return f"{result.metric} {estimate(result)}{beside} ({interval})"


# ------------------------------------------------------------------ a sentence for a paper


def claim(result: EvaluationResult) -> str:
    """Say the result in a sentence for a paper; see `EvaluationResult.claim`."""
    name, rows = _capitalized(spoken(result.metric)), _counted(result.n_samples, "test row")
    if math.isnan(result.estimate):
        return f"{name} is undefined on {rows}: {_reason(result)}."
    score, interval = estimate(result), _interval_phrase(result)
    fixed = f", with {_listed(result.held_fixed)} held fixed" if result.held_fixed else ""
    if result.over_runs is not None and result.estimand != "system":
        told = _for_runs().claim_of(result, name, score, rows)
        return f"{told} ({interval}){_for_runs().what_it_is_not(result)}."
    if result.refits is not None:
        return f"{_for_refits().claim_of(result, name, score)} ({interval})."
    if gap_wording.is_gap(result):
        spoken_of = spoken(result.metric)
        return gap_wording.claim_of(result, spoken_of, score, rows, interval)
    expected, corrected = corrected_estimate(result) or score, ""
    if expected != score:
        bias = rendering.number(result.bias, digits_of(result))
        corrected = f"corrected for a bias of {bias}, "
    sentences = {
        "system": (
            f"{name} was {score} on {rows}; {corrected}on new data from the same source it is "
            f"estimated at {expected} ({interval})"
        ),
        "method": (
            f"{name} to be expected of the method at this training-set size{fixed} is estimated "
            f"at {score} from {rows} ({interval})"
        ),
        "next_run": f"{name} of the next run{fixed} is predicted at {score} ({interval})",
        "pooled": (
            f"{name} of single runs, each trained on a bootstrap sample, is {score} on {rows} "
            f"({interval}; this is not a confidence interval)"
        ),
    }
    sentence = f"{sentences[result.estimand]}."
    low, high = result.confidence_interval
    if low == high:
        why = "Every resample gave the same value"
        if resamples_vary(result.evidence):
            why = "Both limits fall on the same value"
        sentence += (
            f" {why}, so that the interval has no width; "
            "this does not show that the score is known exactly."
        )
    return sentence


def _interval_phrase(result: EvaluationResult) -> str:
    """Write the interval, how it was made, and what was resampled."""
    low, high = result.confidence_interval
    level, method = result.confidence_interval.confidence_level, result.confidence_interval.method
    kind = f"{rendering.percent(level)} {_column_name(result)}"
    if math.isnan(low) or math.isnan(high):
        return f"no {kind}: {_reason(result)}"
    named = gap_wording.method_name(result) if gap_wording.is_gap(result) else words_of(method)
    parts = [f"{kind} {limits(result, marked=False)}", named]
    if result.over_runs is not None and result.estimand != "system":
        return ", ".join([parts[0], *_for_runs().interval_parts(result, units(result))])
    if result.refits is not None:
        return ", ".join([parts[0], *_for_refits().interval_parts(result, units(result))])
    if not uses_no_resamples(result):
        parts.append(f"{units(result)} resampled")
        if result.n_undefined:
            left_out = _counted(result.n_undefined, "resample")
            parts.append(f"{left_out} of {result.n_resamples} without a value left out")
    elif not result.evidence.design.units_are_rows:
        if method == "wilson" and result.estimate not in (low, high):
            rows = effective_size(result.evidence, level)
            parts[1] += f" with {rows:.1f} effective rows"
        parts.append(units(result))
    return ", ".join(parts)


def uses_no_resamples(result: EvaluationResult) -> bool:
    """Whether the interval would be the same with other resamples."""
    closed = result.confidence_interval.method in WITHOUT_RESAMPLES
    return closed or gap_wording.uses_no_resamples(result)


def _reason(result: EvaluationResult) -> str:
    """Say why a number is undefined, without a full stop."""
    defined = result.n_resamples - result.n_undefined
    if not math.isnan(result.estimate) and defined < 2:
        return TOO_FEW
    if result.notes:
        return " ".join(result.notes).rstrip(".")
    if math.isnan(result.estimate):
        return "the metric has no value on these data"
    return f"the {words_of(result.confidence_interval.method)} has no limits on these data"


# ------------------------------------------------------------------ facts


def facts(result: EvaluationResult, *, cheap: bool = False) -> list[tuple[str, str]]:
    """Return all a reader should know as label and text; cheap: without the Monte Carlo error."""
    low, high = result.confidence_interval
    level, method = result.confidence_interval.confidence_level, result.confidence_interval.method
    sign = direction(result.greater_is_better)
    interval = f"{limits(result)} ({words_of(method)})"
    over_runs = result.over_runs is not None and result.estimand != "system"
    if over_runs:
        interval = f"{limits(result)} ({_for_runs().method_name(result)})"
    if gap_wording.is_gap(result):
        interval = f"{limits(result)} ({gap_wording.method_name(result)})"
    unlimited, unscored = math.isnan(low) or math.isnan(high), math.isnan(result.estimate)
    if unlimited:
        # The reason is given once, with the first number that lacks a value.
        interval = "undefined" if unscored else f"undefined: {_reason(result)}"
    score = estimate(result) + (f" ({sign})" if sign else "")
    if gap_wording.is_gap(result):
        score += " (chosen as the largest, so on average too large)"
    corrected = corrected_estimate(result)
    if corrected is not None:
        score += f"; corrected for bias: {corrected}"
    if unscored:
        score = f"undefined: {_reason(result)}"
    if result.refits is not None:
        return _for_refits().facts(result, score, interval)
    lines = [
        ("estimand", _estimand(result)),
        ("estimate", score),
        (f"{rendering.percent(level)} {short_interval_name(result)}", interval),
        ("standard error", _number_or_reason(result, result.standard_error)),
        ("bias", _number(result, result.bias)),
    ]
    if not cheap:
        lines.append(("Monte Carlo error", _monte_carlo(result)))
    lines.append(("resampled", _resampled(result)))
    if result.over_runs is not None:
        lines.extend(_for_runs().facts(result, digits_of(result)))
    if result.held_fixed:
        lines.append(("held fixed", _listed(result.held_fixed)))
    if result.naive_estimate is not None:
        lines.append(("naive reference", _naive(result)))
    if result.n_undefined and not (unscored and gap_wording.is_gap(result)):
        count = f"{result.n_undefined} of {result.n_resamples} resamples"
        lines.append(("undefined", f"{count}, left out"))
    return lines + notes_beside_reason(result)


def notes_beside_reason(result: EvaluationResult) -> list[tuple[str, str]]:
    """Return the notes but those that the reason of an undefined number gives already."""
    if not math.isnan(result.estimate + sum(result.confidence_interval)):
        return [("note", note) for note in result.notes]
    said = {NO_LIMITS} if _reason(result) == TOO_FEW else set(result.notes)
    return [("note", note) for note in result.notes if note not in said]


def _estimand(result: EvaluationResult) -> str:
    if result.over_runs is not None and result.estimand != "system":
        return _for_runs().estimand(result)
    if gap_wording.is_gap(result):
        return gap_wording.estimand(result)
    return _ESTIMANDS[result.estimand]


def _number_or_reason(result: EvaluationResult, value: float) -> str:
    given = math.isnan(result.estimate + sum(result.confidence_interval))
    if math.isnan(value) and not given:
        return f"undefined: {_reason(result)}"
    return _number(result, value)


def _number(result: EvaluationResult, value: float) -> str:
    return rendering.number(value, digits_of(result) + 1)


def _monte_carlo(result: EvaluationResult) -> str:
    low, high = result.monte_carlo_error
    closed = result.over_runs is not None and result.estimand != "system" and low == high == 0
    if closed or uses_no_resamples(result):
        return "none: the interval uses no resamples"
    if math.isnan(low) or math.isnan(high):
        limit = sum(result.confidence_interval)
        return "undefined" if math.isnan(limit) else f"undefined: {_NOT_STORED}"
    width = result.confidence_interval.high - result.confidence_interval.low
    if width == 0 and not resamples_vary(result.evidence):
        return "zero: every resample gave the same value"
    if math.isinf(low) or math.isinf(high):
        return "infinite: with other resamples a limit is sometimes infinite, sometimes not"
    return f"{low:.2g} of the lower limit, {high:.2g} of the upper"


def _resampled(result: EvaluationResult) -> str:
    drawn = units(result)
    if not result.evidence.design.units_are_rows:
        drawn += f" with {_counted(result.n_samples, 'row')}"
    if result.estimand == "pooled" and result.over_runs is not None:
        return _for_runs().resampled(result, drawn)
    return f"{drawn}, {_counted(result.n_resamples, 'time')}"


def _naive(result: EvaluationResult) -> str:
    value = result.naive_estimate
    if value is None or math.isnan(value):
        return "undefined: no system that ignores its inputs has a value on these rows"
    text = rendering.number(value, digits_of(result))
    return f"{text} (best system that ignores its inputs, on the same rows)"


# ------------------------------------------------------------------ tables and drawings


def table_of(
    results: Sequence[EvaluationResult],
    names: Sequence[Sequence[str]] = (),
    titles: Sequence[str] = (),
) -> rendering.Table:
    """Return the table of some results.

    Parameters
    ----------
    results : sequence of EvaluationResult
        One per row.
    names : sequence of sequences of str
        What each row begins with, before its metric.
    titles : sequence of str
        Titles of these columns.

    Returns
    -------
    rendering.Table
        Words on the left, numbers on the right.
    """
    kinds = {(r.confidence_interval.confidence_level, _column_name(r)) for r in results}
    shared = len(kinds) == 1
    interval = "interval"
    if shared:
        [(level, name)] = kinds
        interval = f"{rendering.percent(level)} {name}"
    header = [*titles, "metric", "method", "estimate", interval]
    header += ["standard error", "naive reference", "resampled"]
    rows = [
        [*own, *_cells(result, shared)]
        for own, result in zip(names or [()] * len(results), results, strict=True)
    ]
    return rendering.Table(header, rows, len(titles) + 2)


def _column_name(result: EvaluationResult) -> str:
    """Say what kind of interval it is where what is beside it says that of a gap's."""
    return "CI" if gap_wording.is_gap(result) else short_interval_name(result)


def _cells(result: EvaluationResult, shared: bool) -> list[str]:
    digits, naive = digits_of(result), result.naive_estimate
    interval = limits(result)
    if not shared:
        level = rendering.percent(result.confidence_interval.confidence_level)
        interval += f" ({level} {short_interval_name(result)})"
    elif gap_wording.is_gap(result):
        interval += " (simultaneous)"
    return [
        result.metric,
        result.confidence_interval.method,
        estimate(result),
        interval,
        rendering.number(result.standard_error, digits + 1),
        "" if naive is None else rendering.number(naive, digits),
        units(result),
    ]


def strip_of(result: EvaluationResult) -> Strip:
    """Return the drawing of a result."""
    digits, naive = digits_of(result), result.naive_estimate
    low, high = result.confidence_interval
    shown = (result.estimate, low, high, math.nan if naive is None else naive)
    labels = tuple(rendering.number(value, digits) for value in shown)
    return Strip(
        replicates=result.evidence.sorted_replicates,
        estimate=result.estimate,
        low=low,
        high=high,
        naive=naive,
        labels=labels,  # type: ignore[arg-type]
        title=f"Bootstrap distribution of {spoken(result.metric)}",
        description=claim(result),
    )


# ------------------------------------------------------------------ words


def units(result: EvaluationResult) -> str:
    """Say how many units of what kind were resampled."""
    if isinstance(result.n_units, int):
        return _counted(result.n_units, result.unit)
    numbers = " and ".join(_thousands(n) for n in result.n_units)
    return f"{numbers} {_plural(result.unit).replace('each factor', 'the two factors')}"


def _counted(n: int, noun: str) -> str:
    return f"{_thousands(n)} {noun if n == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    head, *rest = noun.split(" of ", 1)
    return " of ".join([f"{head}s", *rest])


def _thousands(n: int) -> str:
    return f"{n:,}" if n >= 10_000 else str(n)


def _listed(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _capitalized(text: str) -> str:
    first = re.match(r"\w+", text)
    # Names such as "mAP" stay as they are.
    return text[:1].upper() + text[1:] if first and first[0].islower() else text


def _for_runs() -> ModuleType:
    """The words for several runs, imported where there are any."""
    from . import runs_wording

    return runs_wording


def _for_refits() -> ModuleType:
    from . import refits_wording

    return refits_wording
