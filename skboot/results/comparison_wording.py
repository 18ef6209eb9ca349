"""What is said of a comparison: its title, its tables, its facts, a sentence for a paper.

No system is called better where the simultaneous interval holds 0, and two that cannot be told
apart are never called equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..inference.intervals import ConfidenceInterval
from ..inference.outperformance import Outperformance
from . import refits_wording, rendering, wording
from .drawing import Strip

if TYPE_CHECKING:
    from .comparison import ComparisonResult, PairedDifference

# Of more differences than this the verdict on P(A > B) is not spelled out.
_MAX_VERDICTS = 3

# More differences than this, and only those with the best system (or the reference) are shown.
MAX_SHOWN = 15

_METHODS = {
    "tango": "Tango's score interval",
    "delong": "DeLong's interval of the paired difference",
    "max-t": "max-t",
    "bonferroni": "Bonferroni",
    "components": "t interval from variance components",
    "welch": "Welch's t interval over runs",
    "adjusted": "t interval with the adjusted standard error of the out-of-bag difference",
    "cv-bootstrap": "t interval with the spread of bootstrap samples",
}
_ESTIMANDS = {
    "system": "difference of these trained systems on new data from the same source",
    "method": "difference of the methods' expected performance at this training-set size",
}
_NOUNS = {"system": "system", "method": "method"}


def title(result: ComparisonResult) -> str:
    """Say what was compared, on how many rows."""
    name = wording._capitalized(wording.spoken(result.metric))
    n = len(result.systems)
    return f"{name} of {n} {_NOUNS[result.estimand]}s on {_rows(result)}"


def shown_pairs(result: ComparisonResult) -> tuple[PairedDifference, ...]:
    """All pairs if they are few; else those with the best system, from the smallest difference."""
    if len(result.pairs) <= MAX_SHOWN or result.reference is not None:
        return result.pairs
    best = result.best or result.ranking[0]
    others = [name for name in result.ranking if name != best]
    return tuple(result.pair(best, name) for name in others)


def short(result: ComparisonResult) -> str:
    """Write the comparison on one short line."""
    if len(result.pairs) == 1:
        [pair] = result.pairs
        level = rendering.percent(result.confidence_level)
        value = rendering.number(pair.difference, digits_of(pair))
        interval = limits(pair.confidence_interval, digits_of(pair))
        return (
            f"{result.metric} {pair.first} - {pair.second}: {value} ({level} CI {interval}, "
            f"{pair.confidence_interval.method})"
        )
    apart = sum(result.told_apart(pair) for pair in result.pairs)
    best = f", best {result.best}" if result.best else ""
    return (
        f"{result.metric} of {len(result.systems)} {_NOUNS[result.estimand]}s{best}; "
        f"{apart} of {len(result.pairs)} differences told from 0"
    )


# ------------------------------------------------------------------ a sentence for a paper


def claim(result: ComparisonResult) -> str:
    """Say the result for a paper; see `ComparisonResult.claim`."""
    if len(result.pairs) == 1:
        return _claim_of_pair(result, result.pairs[0])
    if result.reference is not None:
        return _claim_with(result, result.reference)
    if result.best is None:
        apart = sum(result.told_apart(pair) for pair in result.pairs)
        return (
            f"Of {len(result.pairs)} differences in {_metric(result)} between "
            f"{len(result.systems)} {_NOUNS[result.estimand]}s {apart} could be told from 0 "
            f"({_together(result)})."
        )
    return _claim_with(result, result.best)


def _claim_of_pair(result: ComparisonResult, pair: PairedDifference) -> str:
    if math.isnan(pair.difference):
        return f"The difference in {_metric(result)} is undefined: {_reason(result, pair)}."
    scores = [
        rendering.number(result.systems[n].estimate, _score_digits(result, pair))
        for n in (pair.first, pair.second)
    ]
    rows = _rows(result)
    apart = result.told_apart(pair)
    value = rendering.number(pair.difference, digits_of(pair))
    start = (
        f"{pair.first} scored {scores[0]} and {pair.second} {scores[1]} in {_metric(result)} on "
        f"{rows}"
    )
    subject = {
        "system": "on new data from the same source the difference is estimated at",
        "method": f"the difference to be expected of the methods{_size(result)} is estimated at",
    }[result.estimand]
    fixed = (
        f", with {wording._listed(result.held_fixed)} held fixed"
        if (result.estimand == "method" and result.held_fixed)
        else ""
    )
    sentence = f"{start}; {subject} {value}{fixed} ({_own_interval(result, pair)})."
    share = _claim_of_runs(result, pair)
    if not apart:
        return f"{sentence}{share} This does not show which one is better, nor that they are equal."
    winner, loser = _ordered(result, pair)
    word = {None: "higher than", True: "better than", False: "better than"}
    return f"{sentence}{share} {winner} is {word[result.greater_is_better]} {loser}."


def _claim_of_runs(result: ComparisonResult, pair: PairedDifference) -> str:
    """Say how often a run of the first beat the paired run of the second."""
    found = pair.outperformance
    if found is None or found.n_pairs == 0:
        return ""
    share, low, high = (f"{100 * part:.0f}" for part in found[:3])
    on = " on bootstrap samples" if _is_left_out(result) else ""
    return (
        f" {pair.first} beat {pair.second} in {share} % of {found.n_pairs} pairs of runs{on} "
        f"({rendering.percent(found.confidence_level)} CI {low} to {high} %, given "
        f"{_given(result)})."
    )


def _ordered(result: ComparisonResult, pair: PairedDifference) -> tuple[str, str]:
    """The better one first (the higher one, if the direction is unknown)."""
    first = (pair.difference > 0) == (result.greater_is_better is not False)
    return (pair.first, pair.second) if first else (pair.second, pair.first)


def _own_interval(result: ComparisonResult, pair: PairedDifference) -> str:
    low, high, level, method = pair.confidence_interval
    if math.isnan(low) or math.isnan(high):
        return f"no {rendering.percent(level)} CI: {_reason(result, pair)}"
    parts = [
        f"{rendering.percent(level)} CI {limits(pair.confidence_interval, digits_of(pair))}",
        method_name(method),
    ]
    if method not in ("tango", "delong", "welch"):
        parts.append(f"{wording.units(result._any_system)} resampled for both")
    if not math.isnan(pair.p_value):
        parts.append(p_text(pair.p_value))
    return ", ".join(parts)


def _claim_with(result: ComparisonResult, centre: str) -> str:
    """Who is better and worse than one system, and who cannot be told from it."""
    others = [name for name in result.ranking if name != centre]
    groups: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for name in others:
        pair = result.pair(name, centre)
        kind = "open"
        if result.told_apart(pair):
            kind = "better" if _ordered(result, pair)[0] == name else "worse"
        groups[kind].append(name)
    score = wording.estimate(result.systems[centre])
    noun = _NOUNS[result.estimand]
    rows = _rows(result)
    if result.reference is None:
        start = (
            f"Of {len(result.systems)} {noun}s compared by {_metric(result)} on {rows}, {centre} "
            f"scored best ({score})"
        )
    else:
        start = f"Compared with {centre} ({score}) by {_metric(result)} on {rows}"
    words = {
        "better": "{} scored higher" if result.greater_is_better is None else "{} did better",
        "worse": "{} scored lower" if result.greater_is_better is None else "{} did worse",
        "open": "{} could not be told from it",
    }
    told = [words[kind].format(_names(names)) for kind, names in groups.items() if names]
    separator = "; " if result.reference is None else ", "
    return f"{start}{separator}{', '.join(told)} ({_together(result)})."


def _names(names: Sequence[str], most: int = 6) -> str:
    if len(names) <= most:
        return wording._listed(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"


def _together(result: ComparisonResult) -> str:
    level, n = rendering.percent(result.confidence_level), len(result.pairs)
    drawn = f"{wording.units(result._any_system)} resampled for all"
    if result.training_share is not None:
        drawn += f"; methods{_size(result)}"
    if result.adjust is None:
        return f"{level} intervals of each difference by itself, not adjusted for {n}; {drawn}"
    name = {"max-t": "max-t", "holm": "Holm and Bonferroni"}[result.adjust]
    return f"simultaneous {level} intervals over {n} differences, {name}; {drawn}"


def _is_left_out(result: ComparisonResult) -> bool:
    """Whether methods were scored on the rows left out of their training samples."""
    return result._any_system.refits is not None


def _rows(result: ComparisonResult) -> str:
    """On what the scores are."""
    refits = result._any_system.refits
    if refits is not None:
        by = refits_wording.centre(refits.strategy)
        return f"{wording._counted(result.n_samples, 'row')}, by {by}"
    return wording._counted(result.n_samples, "test row")


def _size(result: ComparisonResult) -> str:
    """Say on how much methods were trained that are scored on the rows left out."""
    if result.training_share is None:
        return ""
    share = f"{100 * result.training_share:.3g} %"
    return f" when trained on {share} of these {result._any_system.unit}s"


def _given(result: ComparisonResult) -> str:
    """What paired runs hold fixed."""
    if _is_left_out(result):
        return "this training list"
    independent = result.settings.get("varied") == "independent"
    return "this test set" if independent else "this training list and test set"


def _metric(result: ComparisonResult) -> str:
    return wording.spoken(result.metric)


def _reason(result: ComparisonResult, pair: PairedDifference) -> str:
    if pair.reason:
        return pair.reason
    undefined = [name for name, one in result.systems.items() if math.isnan(one.estimate)]
    if undefined:
        return f"the metric has no value for {wording._listed(undefined)} on these data"
    return "fewer than two resamples gave a value"


# ------------------------------------------------------------------ facts


def facts(result: ComparisonResult) -> list[tuple[str, str]]:
    """Return what a reader should know besides the tables, as label and text."""
    lines = [("estimand", _estimand(result))]
    if sign := wording.direction(result.greater_is_better):
        lines.append(("direction", sign))
    lines.append(("adjusted", _adjusted(result)))
    open_ = result.indistinguishable_from_best
    if open_ is not None and len(result.systems) > 2:
        text = wording._listed(open_) if open_ else "none"
        lines.append((f"not told from {result.best}", text))
    hidden = len(result.pairs) - len(shown_pairs(result))
    if hidden:
        lines.append(("not shown", f"{hidden} differences; to_frame() and to_dict() hold them"))
    system = result._any_system
    drawn = f"{wording.units(system)} for all {_NOUNS[result.estimand]}s together"
    drawn = f"to train on: {drawn}" if _is_left_out(result) else drawn
    lines.append(("resampled", f"{drawn}, {wording._counted(result.n_resamples, 'time')}"))
    lines += _facts_of_runs(result)
    if result.held_fixed:
        lines.append(("held fixed", wording._listed(result.held_fixed)))
    lines += [("note", note) for note in result.notes]
    return lines


def _estimand(result: ComparisonResult) -> str:
    """What the differences are of, and at which training-set size."""
    if result.training_share is None:
        return _ESTIMANDS[result.estimand]
    return f"difference of the methods' expected performance{_size(result)}"


def _facts_of_runs(result: ComparisonResult) -> list[tuple[str, str]]:
    """P(A > B) of each pair shown, with the rule for reading it."""
    shown = [
        pair for pair in shown_pairs(result) if pair.outperformance and pair.outperformance.n_pairs
    ]
    if not shown:
        return []
    on = ""
    if _is_left_out(result):
        on = " on bootstrap samples, which hold 63.2 % of the distinct rows,"
    lines = [
        (
            "P(A > B)",
            f"share of runs of A{on} that beat the run of B that belongs to them, given "
            f"{_given(result)}; it says nothing of other rows. Significant if the interval lies "
            "on one side of .5, and meaningful if it reaches beyond .75 or .25 (Bouthillier et al. "
            "2021)",
        )
    ]
    if len(shown) <= _MAX_VERDICTS:
        for pair in shown:
            found = pair.outperformance
            assert found is not None
            name = f"P({pair.first} > {pair.second})"
            number = f"{_share(found)} over {wording._counted(found.n_pairs, 'pair')} of runs"
            lines.append((name, f"{number}: {found.verdict}{_in_favour(pair)}"))
    return lines


def _in_favour(pair: PairedDifference) -> str:
    """For whom a verdict is, and where it is not shown to be one on the methods."""
    found = pair.outperformance
    if found is None or found.verdict == "not significant":
        return ""
    winner = pair.first if found.probability > 0.5 else pair.second
    others = "; not shown on others: the interval of the difference holds 0"
    return f" for {winner} on these rows{'' if pair.excludes_zero else others}"


def _share(found: Outperformance) -> str:
    """Write P(A > B) with its interval."""
    if math.isnan(found.probability):
        return "undefined"
    value, low, high = (rendering.number(one, 2) for one in found[:3])
    return f"{value} ({low} to {high})"


def _adjusted(result: ComparisonResult) -> str:
    n = len(result.pairs)
    if n == 1:
        return "one difference: nothing to adjust for"
    return {
        "max-t": f"for {n} differences, by the joint law of the largest (max-t)",
        "holm": f"for {n} differences: p by Holm, simultaneous intervals by Bonferroni",
        None: f"not for the {n} differences: some of them may exclude 0 by chance",
    }[result.adjust]


# ------------------------------------------------------------------ tables and drawings


def systems_table(result: ComparisonResult) -> rendering.Table:
    """Table of the systems, from the best."""
    level = rendering.percent(result.confidence_level)
    rows = []
    for name in result.ranking:
        system = result.systems[name]
        method = system.confidence_interval.method
        rows.append([name, wording.estimate(system), wording.limits(system), method])
    noun = _NOUNS[result.estimand]
    return rendering.Table([noun, result.metric, f"{level} CI", "interval"], rows)


def pairs_table(
    result: ComparisonResult, pairs: Sequence[PairedDifference] | None = None
) -> rendering.Table:
    """Table of differences: those that `shown_pairs` gives, unless said."""
    pairs = shown_pairs(result) if pairs is None else pairs
    level = rendering.percent(result.confidence_level)
    adjusted = result.adjust is not None and len(result.pairs) > 1
    mcnemar = any(pair.mcnemar_p_value is not None for pair in pairs)
    header = ["difference", "interval", "estimate", f"{level} CI"]
    header += ["simultaneous"] * adjusted + ["p"] + ["adjusted p"] * adjusted
    runs = any(pair.outperformance is not None for pair in pairs)
    header += ["P(A > B)" if runs else "support"] + ["McNemar p"] * mcnemar
    rows = [_pair_cells(pair, adjusted, mcnemar) for pair in pairs]
    return rendering.Table(header, rows, 2)


def _pair_cells(pair: PairedDifference, adjusted: bool, mcnemar: bool) -> list[str]:
    digits = digits_of(pair)
    simultaneous = pair.simultaneous_interval
    exact = pair.mcnemar_p_value
    return [
        f"{pair.first} - {pair.second}",
        pair.confidence_interval.method,
        rendering.number(pair.difference, digits),
        limits(pair.confidence_interval, digits),
        *([limits(simultaneous, digits) if simultaneous else ""] if adjusted else []),
        p_number(pair.p_value),
        *([p_number(pair.p_value_adjusted)] if adjusted else []),
        rendering.number(pair.bootstrap_support, 3)
        if pair.outperformance is None
        else _share(pair.outperformance),
        *(["" if exact is None else p_number(exact)] if mcnemar else []),
    ]


def strip_of(result: ComparisonResult, pair: PairedDifference) -> Strip:
    """Return the drawing of a difference, with its widest interval and 0 as reference."""
    replicates = result.replicates(pair.first, pair.second)
    low, high = pair.widest_interval[:2]
    digits = digits_of(pair)
    labels = tuple(rendering.number(value, digits) for value in (pair.difference, low, high, 0.0))
    return Strip(
        replicates=replicates[np.isfinite(replicates)],
        estimate=pair.difference,
        low=low,
        high=high,
        naive=0.0,
        labels=labels,  # type: ignore[arg-type]
        title=f"Bootstrap distribution of {pair.first} - {pair.second}",
        description=f"{pair.first} - {pair.second}: {labels[0]} ({labels[1]} to {labels[2]})",
    )


# ------------------------------------------------------------------ words


def method_name(method: str) -> str:
    """Name of an interval of a difference, in words."""
    if method in _METHODS:
        return _METHODS[method]
    return f"{wording._method(method).removesuffix(' interval')} interval of the paired difference"


def digits_of(pair: PairedDifference) -> int:
    """Digits after the point that the interval's width supports."""
    low, high = pair.confidence_interval[:2]
    if not (math.isfinite(low + high) and high - low > 1e-12):
        size = abs(pair.difference)
        low, high = 0.0, size / 10 if math.isfinite(size) and size > 0 else 0.1
    shown = (pair.difference, *pair.widest_interval[:2], *pair.confidence_interval[:2])
    return rendering.digits_for(low, high, shown, (0.0,))


def _score_digits(result: ComparisonResult, pair: PairedDifference) -> int:
    """Digits of two scores such that their difference can be read off."""
    return max(digits_of(pair), wording.digits_of(result.systems[pair.first]))


def limits(interval: ConfidenceInterval, digits: int) -> str:
    """Write both limits; says so where they have no width."""
    low, high = interval[:2]
    if math.isnan(low) or math.isnan(high):
        return "undefined"
    mark = " (no width)" if low == high else ""
    return f"{rendering.number(low, digits)} to {rendering.number(high, digits)}{mark}"


def p_number(p: float) -> str:
    """Write a p-value with two significant digits."""
    if math.isnan(p):
        return "undefined"
    if p < 0.0001:
        return "<0.0001"
    text = f"{p:.2g}" if p < 0.1 else f"{p:.2f}"
    # Never on the wrong side of the usual level by rounding.
    return f"{p:.4f}" if (float(text) <= 0.05) != (p <= 0.05) else text


def plain_html(text: str) -> str:
    """Escape a text for HTML."""
    return escape(" ".join(text.split()))


def p_text(p: float) -> str:
    """Write "p = 0.03"."""
    text = p_number(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"
