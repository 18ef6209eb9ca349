"""The words of a comparison: its title, its facts, a sentence for a paper.

No system is called better where the simultaneous interval holds 0, and two systems that are not
distinguishable are never called equal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base.messages import thousands
from ..inference.differences import CLOSED_FORM
from . import rendering, wording
from .comparison_tables import (
    SUPERIORITY,
    p_numbers,
    p_text,
    scale_of,
    scales_of_scores,
    share_text,
    short_text,
)
from .runs_basis import is_untrained

if TYPE_CHECKING:
    from .comparison import ComparisonResult
    from .pairs import PairedDifference

# Largest number of differences whose verdicts on P(A > B) are spelled out; more would fill a page
# with sentences that differ in names alone.
_MAX_VERDICTS = 3

_ESTIMANDS = {
    "system": "difference of these trained systems on {}",
    "method": "difference of the methods' expected performance at this training-set size",
    "new": "expected difference on a new data set like these",
    "these": "mean difference on these very data sets",
}


_NO_DIRECTION = (
    "unknown: scores are called higher and lower; greater_is_better=True or False says which is "
    "good, and ranks need it"
)
_NOT_SIGNIFICANT = "The difference is not significant: this does not show that"
# What a one-sided alternative says of a difference.
_SIDES = {"greater": "above", "less": "below"}


def title(result: ComparisonResult) -> str:
    """Say what was compared, on how many rows."""
    name, average = wording.spoken(result.metric), wording.average_over(result)
    systems = f"{len(result.systems)} {result._compared}s"
    average = average and f",{average}"
    return f"{wording.capitalized(name)} of {systems} on {_rows(result)}{average}"


def short(result: ComparisonResult) -> str:
    """Write the comparison on one short line."""
    if len(result.pairs) == 1:
        return f"{result.metric} {short_text(result.pairs[0])}"
    apart = sum(result.is_distinguishable(pair) for pair in result.pairs)
    best = f", best {result.best}" if result.best else ""
    return (
        f"{result.metric} of {len(result.systems)} {result._compared}s{best}; "
        f"{apart} of {len(result.pairs)} differences significant"
    )


# ------------------------------------------------------------------ a sentence for a paper


def claim(result: ComparisonResult) -> str:
    """Say the result for a paper; see `ComparisonResult.claim`."""
    return _claim(result) + wording.if_random_sample(result)


def _claim(result: ComparisonResult) -> str:
    if len(result.pairs) == 1:
        return _claim_of_pair(result, result.pairs[0])
    if result.alternative != "two-sided":
        return _claim_of_one_side(result)
    if result.reference is not None:
        return _claim_with(result, result.reference)
    if result.best is None:
        apart = sum(result.is_distinguishable(pair) for pair in result.pairs)
        return (
            f"Of {len(result.pairs)} differences in {_metric(result)} between "
            f"{len(result.systems)} {result._compared}s {apart} differed significantly from 0 "
            f"({_together(result)})."
        )
    return _claim_with(result, result.best)


def _claim_of_one_side(result: ComparisonResult) -> str:
    """Return the claim of several differences that were tested against one side."""
    side = _SIDES[result.alternative]
    told = [f"{pair.first} - {pair.second}" for pair in result.pairs if pair.excludes_zero]
    start = (
        f"Of {len(result.pairs)} differences in {_metric(result)} between {len(result.systems)} "
        f"{result.estimand}s on {_rows(result)}, {len(told)} were significantly {side} 0"
    )
    names = f": {wording.named(told)}" if told else ""
    return f"{start}{names} ({_together(result)})."


def _claim_of_pair(result: ComparisonResult, pair: PairedDifference) -> str:
    """Return the claim of a comparison of two systems."""
    if math.isnan(pair.difference):
        return f"The difference in {_metric(result)} is undefined: {_reason(result, pair)}."
    scales = scales_of_scores(result)
    scores = [
        rendering.number(result.systems[n].estimate, scales[n]) for n in (pair.first, pair.second)
    ]
    rows = _rows(result)
    value = rendering.number(pair.difference, scale_of(pair))
    start = (
        f"{pair.first} scored {scores[0]} and {pair.second} {scores[1]} in {_metric(result)} on "
        f"{rows}"
    )
    subject = {
        "system": f"on {wording.new_data(result._any_system)} the difference is estimated at",
        "method": f"the expected difference of the methods{_size(result)} is estimated at",
        "new": "the expected difference on a new data set like these is estimated at",
        "these": "the mean difference on these data sets is estimated at",
    }[result.estimand]
    fixed = wording.conditional_on(result) if result.estimand == "method" else ""
    sentence = f"{start}; {subject} {value}{fixed} ({_own_interval(result, pair)})."
    share = _claim_of_runs(result, pair)
    word = _comparative(result)
    if not result.is_distinguishable(pair) and pair.alternative != "two-sided":
        side = _SIDES[pair.alternative]
        return f"{sentence}{share} {_NOT_SIGNIFICANT} it is {side} 0."
    if not result.is_distinguishable(pair):
        return f"{sentence}{share} {_NOT_SIGNIFICANT} one is {word}, nor that they are equal."
    winner, loser = _ordered(result, pair)
    verb = "scores" if result.greater_is_better is None else "is"
    return f"{sentence}{share} {winner} {verb} significantly {word} than {loser}."


def _comparative(result: ComparisonResult) -> str:
    """Return "better", or "higher" where the direction of the metric is unknown."""
    return "higher" if result.greater_is_better is None else "better"


def _claim_of_runs(result: ComparisonResult, pair: PairedDifference) -> str:
    """Say how often a run of the first beat the paired run of the second."""
    outperformance = pair.outperformance
    if outperformance is None or outperformance.n_pairs == 0:
        return ""
    share, low, high = map(rendering.percentage, outperformance[:3])
    level = rendering.percent(outperformance.confidence_level)
    on = " on bootstrap samples" if _is_left_out(result) else ""
    return (
        f" {pair.first} beat {pair.second} in {share} % of {outperformance.n_pairs} pairs of runs"
        f"{on} ({level} CI {low} to {high} %, given {_given(result)})."
    )


def _ordered(result: ComparisonResult, pair: PairedDifference) -> tuple[str, str]:
    """Return the names, that with the better score first; the higher, if no direction is known."""
    first = (pair.difference > 0) == (result.greater_is_better is not False)
    return (pair.first, pair.second) if first else (pair.second, pair.first)


def _own_interval(result: ComparisonResult, pair: PairedDifference) -> str:
    """Write the interval of a difference by itself, how it was made, and its p-value."""
    low, high = pair.confidence_interval
    level, method = pair.confidence_interval.confidence_level, pair.confidence_interval.method
    if math.isnan(low) or math.isnan(high):
        return f"no {rendering.percent(level)} CI: {_reason(result, pair)}"
    limits = rendering.limits(pair.confidence_interval, scale_of(pair))
    sided = "one-sided " if pair.alternative != "two-sided" else ""
    details = [
        f"{sided}{rendering.percent(level)} CI {limits}",
        result._method_name(method),
    ]
    if method not in CLOSED_FORM and method != "welch":
        details += _drawn(result, "both")
    if not math.isnan(pair.p_value):
        details.append(p_text(p_numbers(result, pair)[0]))
    return ", ".join(details)


def _claim_with(result: ComparisonResult, centre: str) -> str:
    """Return the claim that names systems better, worse and not distinguishable from one."""
    others = [name for name in result._in_order if name != centre]
    groups: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for name in others:
        pair = result.pair(name, centre)
        kind = "open"
        if result.is_distinguishable(pair):
            kind = "better" if _ordered(result, pair)[0] == name else "worse"
        groups[kind].append(name)
    score = rendering.number(result.systems[centre].estimate, scales_of_scores(result)[centre])
    noun = result._compared
    rows = _rows(result)
    if result.reference is None:
        start = (
            f"Of {len(result.systems)} {noun}s compared by {_metric(result)} on {rows}, {centre} "
            f"scored best ({score})"
        )
    else:
        start = f"Compared with {centre} ({score}) by {_metric(result)} on {rows}"
    words = {
        "better": "{} scored significantly higher"
        if result.greater_is_better is None
        else "{} did significantly better",
        "worse": "{} scored significantly lower"
        if result.greater_is_better is None
        else "{} did significantly worse",
        "open": "{} did not differ significantly from it",
    }
    clauses = [words[kind].format(wording.named(names)) for kind, names in groups.items() if names]
    separator = "; " if result.reference is None else ", "
    return f"{start}{separator}{', '.join(clauses)} ({_together(result)})."


def _together(result: ComparisonResult) -> str:
    """Say how the intervals allow for the number of differences, and what was drawn."""
    level, n = rendering.percent(result.confidence_level), len(result.pairs)
    level = level if result.alternative == "two-sided" else f"one-sided {level}"
    drawn = "".join(f"; {text}" for text in _drawn(result, "all"))
    if result.training_share is not None:
        drawn += f"; methods{_size(result)}"
    if result.adjust is None:
        return f"{level} intervals of each difference by itself, not adjusted for {n}{drawn}"
    name = {"max-t": "max-t", "holm": "Holm and Bonferroni", "bonferroni": "Bonferroni"}
    return f"simultaneous {level} intervals over {n} differences, {name[result.adjust]}{drawn}"


def _is_left_out(result: ComparisonResult) -> bool:
    """Whether methods were scored on the rows left out of their training samples."""
    return result._any_system.basis.is_on_rows_left_out


def _drawn(result: ComparisonResult, for_whom: str) -> list[str]:
    """Say what was resampled for which systems in common; empty if nothing was."""
    if not result.is_paired:
        return ["independent resamples of each test set"]
    system = result._any_system
    if not system.basis.is_resampled:
        return []
    return [f"{wording.units(system)} resampled for {for_whom}"]


def _rows(result: ComparisonResult) -> str:
    """Say how many rows the scores are of, and how rows that were trained on are avoided."""
    if not result.is_paired:
        sizes = [thousands(system.n_samples) for system in result.systems.values()]
        return f"test sets of their own ({wording.listed(sizes)} rows)"
    return result._any_system.basis.rows(wording.n_scored(result))


def _units_of_each(result: ComparisonResult) -> str:
    """Say what was drawn of each system on a test set of its own."""
    units = [wording.units(system) for system in result.systems.values()]
    return wording.listed(list(dict.fromkeys(units)))


def _size(result: ComparisonResult) -> str:
    """Say the size of the training samples of methods that are scored on rows left out of them."""
    if result.training_share is None:
        return ""
    share = f"{100 * result.training_share:.3g} %"
    return f" when trained on {share} of these {result._any_system.unit}s"


def _given(result: ComparisonResult) -> str:
    """Say what P(A > B) over paired runs holds fixed."""
    if _is_left_out(result):
        return "this training set"
    listless = result.provenance.facts.varied == "independent" or is_untrained(result)
    return "this test set" if listless else "this training set and test set"


def _metric(result: ComparisonResult) -> str:
    """Write the name of the metric as words."""
    return wording.spoken(result.metric) + wording.average_over(result)


def _reason(result: ComparisonResult, pair: PairedDifference) -> str:
    """Say why a difference or its interval is undefined, without a full stop."""
    if pair.reason:
        return pair.reason
    undefined = [name for name in result.systems if math.isnan(result.systems[name].estimate)]
    if undefined:
        return f"the metric has no value for {wording.listed(undefined)} on these data"
    return "fewer than two resamples gave a value"


# ------------------------------------------------------------------ facts


def facts(result: ComparisonResult) -> list[tuple[str, str]]:
    """Return what a reader should know besides the tables, as label and text."""
    lines = [("estimand", _estimand(result))]
    sign = wording.direction(result.greater_is_better)
    lines.append(("direction", sign or _NO_DIRECTION))
    lines.append(("adjusted", _adjusted(result)))
    if result.alternative != "two-sided":
        lines.append(("alternative", _one_sided(result)))
    open_ = None if result.alternative != "two-sided" else result.indistinguishable_from_best
    if open_ is not None and len(result.systems) > 2:
        text = wording.listed(open_) if open_ else "none"
        lines.append(("not significantly", f"different from {result.best}: {text}"))
    hidden = len(result.pairs) - len(result._shown_pairs)
    if hidden:
        lines.append(("not shown", f"{hidden} differences; to_frame() and to_dict() hold them"))
    if result._any_system.basis.is_resampled:
        drawn = f"{wording.units(result._any_system)} for all {result._compared}s together"
        if not result.is_paired:
            drawn = f"{_units_of_each(result)}, each test set by itself"
        drawn = f"to train on: {drawn}" if _is_left_out(result) else drawn
        lines.append(("resampled", f"{drawn}, {wording.counted(result.n_resamples, 'time')}"))
    lines += _facts_of_runs(result)
    if not any(pair.outperformance for pair in result._shown_pairs):
        lines.append((SUPERIORITY, _superiority(result)))
    if result.held_fixed:
        lines.append(("conditional on", wording.listed(result.held_fixed)))
    lines += wording.judged(result, result._any_system.n_samples)
    lines += [("note", note) for note in result.notes]
    return lines


def _one_sided(result: ComparisonResult) -> str:
    """Say what one-sided intervals and p-values are against."""
    side, limits = _SIDES[result.alternative], {"greater": "lower", "less": "upper"}
    return (
        f"{result.alternative}: one-sided p-values, against the differences not being {side} 0, "
        f"and intervals of {limits[result.alternative]} limits alone"
    )


def _estimand(result: ComparisonResult) -> str:
    """Say of what the differences are, and at which training-set size."""
    if is_untrained(result):
        return "difference of the methods' expected scores, over runs that differ as these do"
    if result.training_share is None:
        return _ESTIMANDS[result.estimand].format(wording.new_data(result._any_system))
    return f"difference of the methods' expected performance{_size(result)}"


def _superiority(result: ComparisonResult) -> str:
    """Say what the column of this name holds."""
    if any(pair.n_runs for pair in result._shown_pairs):
        return (
            "probability of superiority by Student's t, as the intervals: that the first scores "
            f"{_comparative(result)}"
        )
    by, drawn = ", estimated by the bootstrap", "resamples"
    if not result._any_system.basis.is_resampled:
        by, drawn = "", "draws from the law of the errors"
    return (
        f"probability of superiority{by}: share of the {drawn} on which the first scores "
        f"{_comparative(result)}, ties half"
    )


def _facts_of_runs(result: ComparisonResult) -> list[tuple[str, str]]:
    """Return P(A > B) of each pair shown, with the rule for reading it, as label and text."""
    shown = [
        pair for pair in result._shown_pairs if pair.outperformance and pair.outperformance.n_pairs
    ]
    if not shown:
        return []
    on = ""
    if _is_left_out(result):
        on = " on bootstrap samples, which hold 63.2 % of the distinct rows,"
    lines = [
        (
            "P(A > B)",
            f"share of pairs of runs{on} in which A scores better than B, conditional on "
            f"{_given(result)}: it does not hold for other rows. Significant if the interval lies "
            "on one side of .5, and meaningful if it reaches beyond .75 or .25 (Bouthillier et al. "
            "2021)",
        )
    ]
    if len(shown) <= _MAX_VERDICTS:
        for pair in shown:
            outperformance = pair.outperformance
            assert outperformance is not None
            name = f"P({pair.first} > {pair.second})"
            counted = wording.counted(outperformance.n_pairs, "pair")
            number = f"{share_text(outperformance)} over {counted} of runs"
            lines.append((name, f"{number}: {outperformance.verdict}{_in_favour(pair)}"))
    return lines


def _in_favour(pair: PairedDifference) -> str:
    """Say which system a verdict favours, and where the difference itself holds 0."""
    outperformance = pair.outperformance
    if outperformance is None or not outperformance.is_significant:
        return ""
    winner = pair.first if outperformance.probability > 0.5 else pair.second
    others = "; not shown on others: the interval of the difference holds 0"
    return f" for {winner} on these rows{'' if pair.excludes_zero else others}"


def _adjusted(result: ComparisonResult) -> str:
    """Say how intervals and p-values allow for the number of differences."""
    n = len(result.pairs)
    if n == 1:
        return "one difference: nothing to adjust for"
    return {
        "max-t": f"for {n} differences, by the joint law of the largest (max-t)",
        "holm": f"for {n} differences: p by Holm, simultaneous intervals by Bonferroni",
        "bonferroni": f"for {n} differences, by Bonferroni",
        None: f"not for the {n} differences: some of them may exclude 0 by chance",
    }[result.adjust]
