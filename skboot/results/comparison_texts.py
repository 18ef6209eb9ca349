"""A comparison in words: the words of its title, facts and claim, the cells of its tables.

No system is called better where the simultaneous interval holds 0, and two systems that are not
distinguishable are never called equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._base.errors import thousands
from ..inference.differences import CLOSED_FORM, words_of_difference
from ..inference.intervals import title_of
from ..inference.runs import Outperformance
from . import rendering, wording
from .rendering import Strip

if TYPE_CHECKING:
    from ..inference.evidence import ConfidenceInterval
    from .comparison import ComparisonResult, PairedDifference


# Largest number of differences that a summary or a picture shows.
MAX_SHOWN = 15
_METHODS = {
    "max-t": "max-t",
    "bonferroni": "Bonferroni",
    "components": "t interval from variance components",
    "welch": "Welch's t interval over runs",
    "adjusted": "t interval with the adjusted standard error of the out-of-bag difference",
    "cv-bootstrap": "t interval with the spread of bootstrap samples",
}
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
# What a one-sided alternative says of a difference.
_SIDES = {"greater": "above", "less": "below"}
# Titles of the column of `PairedDifference.bootstrap_support`, by what it is a share of.
_WON, _DRAWS_WON, _SUPPORT = "resamples won", "draws won", "support by t"
# P-values below this one are written as being below it.
_LEAST_SHOWN = 0.0001


# ------------------------------------------------------------------ numbers and names


def method_title(pair: PairedDifference) -> str:
    """Return the name of the interval of a pair as papers print it."""
    method = pair.confidence_interval.method
    return title_of(method, method_name(method))


def method_name(method: str, *, paired: bool = True) -> str:
    """Return the name of an interval of a difference, in words."""
    if method in _METHODS:
        return _METHODS[method]
    return words_of_difference(method, paired=paired)


def scales_of_scores(result: ComparisonResult) -> dict[str, rendering.Scale]:
    """Return the decimals of each system's score, in sentences.

    All have those that the system with the narrowest interval needs, if these are at most two more.
    No two systems that can be distinguished are written alike, unless that takes more than two
    digits more.
    """
    systems = result.systems
    needed = rendering.alike([wording.scale_of(system) for system in systems.values()])
    for more in range(rendering.MOST_MORE_DIGITS + 1):
        scales = {name: scale + more for name, scale in zip(systems, needed, strict=True)}
        if _are_told_apart(result, scales):
            return scales
    return dict(zip(systems, needed, strict=True))


def tells_apart(result: ComparisonResult, decimals: rendering.Decimals) -> bool:
    """Whether a table tells all systems apart that can be distinguished, with these decimals."""
    return _are_told_apart(result, _columns(result, decimals, rendering.NOTHING_ASKED))


def _are_told_apart(
    result: ComparisonResult, scales: Mapping[str, rendering.Scale | rendering.Fixed]
) -> bool:
    """Whether no two systems that can be distinguished have scores that are written alike."""
    systems = result.systems
    texts = {n: rendering.number(systems[n].estimate, scale) for n, scale in scales.items()}
    return not any(
        texts[pair.first] == texts[pair.second] and result.is_distinguishable(pair)
        for pair in result.pairs
    )


def _columns(
    result: ComparisonResult, decimals: rendering.Decimals, options: rendering.TableOptions
) -> dict[str, rendering.Fixed]:
    """Return how the score of each system is written in a table."""
    systems = result.systems.items()
    return {name: wording.column_of(system, decimals, options) for name, system in systems}


def scale_of(pair: PairedDifference, *intervals: ConfidenceInterval) -> rendering.Scale:
    """Return the decimals of a difference, at least those of all of its comparison.

    Other intervals than those of the pair may stand beside them.
    """
    if pair._comparison is None:
        return pair._scale(*intervals)
    facts = pair._comparison
    return pair._scale(*intervals, rounding=facts.rounding).at_least(facts.digits)


def short_text(pair: PairedDifference) -> str:
    """Write the names of a pair, its difference and its interval on one line."""
    scale, interval = scale_of(pair), pair.confidence_interval
    level = rendering.percent(interval.confidence_level)
    limits = f"{level} CI {rendering.limits(interval, scale)}, {method_title(pair)}"
    value = rendering.number(pair.difference, scale)
    return f"{pair.first} - {pair.second}: {value} ({limits})"


def share_text(share: Outperformance) -> str:
    """Write P(A > B) with its interval."""
    if math.isnan(share.probability):
        return "undefined"
    probability, *limits = share[:3]
    scale = rendering.Scale.of([probability], [(limits[0], limits[1])], (0.0, 1.0), digits=2)
    value, low, high = (rendering.number(number, scale) for number in share[:3])
    return f"{value} ({low} to {high})"


def p_number(p: float) -> str:
    """Write a p-value with two significant digits."""
    if math.isnan(p):
        return "undefined"
    if p < _LEAST_SHOWN:
        return f"<{_LEAST_SHOWN:.4f}"
    text = f"{p:.2g}" if p < 0.1 else rendering.number(p, rendering.Scale(2))
    # Rounding never moves a p-value to the other side of the usual level.
    return f"{p:.4f}" if (float(text) <= 0.05) != (p <= 0.05) else text


def p_numbers(result: ComparisonResult, pair: PairedDifference) -> list[str]:
    """Write the p-value of a pair and the adjusted one; "<=" before the least of the resamples."""
    replicates = result.replicates(pair.first, pair.second)
    sides = 2 if pair.alternative == "two-sided" else 1
    least = sides / (np.count_nonzero(~np.isnan(replicates)) + 1)
    values = (pair.p_value, pair.p_value_adjusted)
    return [("<=" if p == least >= _LEAST_SHOWN else "") + p_number(p) for p in values]


def p_text(written: str) -> str:
    """Write "p = 0.03" of a p-value as `p_number` writes it."""
    sign = written[: len(written) - len(written.lstrip("<="))]
    return f"p {sign or '='} {written.removeprefix(sign)}"


# ------------------------------------------------------------------ tables


def systems_table(result: ComparisonResult, options: rendering.TableOptions) -> rendering.Table:
    """Return the table of the systems, from the best, which is in bold."""
    level = rendering.percent(result.confidence_level)
    scales = _columns(result, wording.decimals_in(options, result), options)
    best = _best(result, scales)
    rows = []
    for name in result._ordered_names:
        system = result.systems[name]
        value = rendering.number(system.estimate, scales[name])
        interval = system.confidence_interval
        cell = rendering.Best(value) if value == best else value
        limits = rendering.limits(interval, scales[name])
        rows.append([name, cell, limits, title_of(interval.method)])
    noun = result._compared
    header = [noun, wording.spoken(result.metric), f"{level} CI", "interval"]
    return rendering.Table(header, rows)


def scores_table(
    named: Sequence[tuple[str, ComparisonResult]], options: rendering.TableOptions
) -> rendering.Table:
    """Return one row per system and one column per comparison, the best of each in bold."""
    systems = dict.fromkeys(system for _, result in named for system in result.systems)
    columns, titles = [], []
    for name, result in named:
        spoken = wording.spoken(name) if name == result.metric else name
        # "0.85 (0.80 to 0.90)" of each system, with the same digits for all.
        scales = _columns(result, wording.decimals_in(options, result), options)
        best, cells = _best(result, scales), dict[str, str]()
        for system, score in result.systems.items():
            value = cell = rendering.number(score.estimate, scales[system])
            if not math.isnan(score.estimate):
                interval = "no interval"
                if wording.has_limits(score):
                    limits = score.confidence_interval
                    interval = rendering.limits(limits, scales[system], marked=False)
                cell = f"{value} ({interval})"
            cells[system] = rendering.Best(cell) if value == best else cell
        columns.append(cells)
        titles.append(f"{spoken} ({rendering.percent(result.confidence_level)} CI)")
        if options.p_values:
            centre = result.reference or result.best or result._ordered_names[0]
            adjusted = result.adjust is not None and len(result.pairs) > 1
            columns.append(
                {
                    system: p_numbers(result, result.pair(system, centre))[adjusted]
                    for system in result.systems
                    if system != centre
                }
            )
            titles.append(f"{'adjusted ' * adjusted}p against {centre}")
    rows = [[system, *(column.get(system, "") for column in columns)] for system in systems]
    return rendering.Table([named[0][1]._compared, *titles], rows)


def _best(result: ComparisonResult, scales: Mapping[str, rendering.Fixed]) -> str | None:
    """Return how the best score is written; scores that are written alike are best alike.

    None if the direction is unknown.
    """
    scores = {name: system.estimate for name, system in result.systems.items()}
    defined = [name for name, score in scores.items() if not math.isnan(score)]
    if result.greater_is_better is None or not defined:
        return None
    best = (max if result.greater_is_better else min)(defined, key=scores.__getitem__)
    return rendering.number(scores[best], scales[best])


def pairs_table(
    result: ComparisonResult,
    options: rendering.TableOptions,
    pairs: Sequence[PairedDifference] | None = None,
) -> rendering.Table:
    """Return the table of differences: those that the result shows, unless others are given."""
    pairs = result._shown_pairs if pairs is None else pairs
    further: dict[str, str] = {}
    for pair in pairs:
        further |= pair._further_cells(options)
    is_adjusted = result.adjust is not None and len(result.pairs) > 1
    # There is a p-value, or a reason why there is neither that nor an interval.
    with_p = options.p_values and any(
        not math.isnan(pair.p_value) or math.isnan(sum(pair.confidence_interval)) for pair in pairs
    )
    level = rendering.percent(result.confidence_level)
    methods = list(dict.fromkeys(method_title(pair) for pair in pairs))
    # A method that all share is named once, in the title: rows are wide enough without it.
    shared = len(methods) == 1
    header = ["difference", *([] if shared else ["interval"])]
    metric = wording.spoken(result.metric)
    header += [f"{metric} of first", "of second"] * options.scores + ["estimate"]
    header += [f"{level} CI ({methods[0]})" if shared else f"{level} CI"]
    header += ["simultaneous"] * is_adjusted
    header += with_p * (["p"] + ["adjusted p"] * is_adjusted)
    runs = any(pair.outperformance is not None for pair in pairs)
    with_support = options.support and not runs
    header += ["P(A > B)"] * runs + [support_of(result)] * with_support + [*further]
    decimals = wording.decimals_in(options, result)
    scales = _columns(result, decimals, options)
    rows = []
    for pair in pairs:
        digits = decimals.at(pair._width) if options.digits is None else options.digits
        column = rendering.Fixed(digits, rounding=pair._facts.rounding)
        row: list[str] = [rendering.Difference(pair.first, pair.second)]
        row += [] if shared else [method_title(pair)]
        for name in (pair.first, pair.second) if options.scores else ():
            row.append(rendering.number(result.systems[name].estimate, scales[name]))
        row.append(rendering.number(pair.difference, column))
        row.append(rendering.limits(pair.confidence_interval, column))
        if is_adjusted:
            joint = pair.simultaneous_interval
            row.append(rendering.limits(joint, column) if joint else "")
        row += p_numbers(result, pair)[: 1 + is_adjusted] if with_p else []
        if runs:
            row.append(share_text(pair.outperformance) if pair.outperformance else "")
        if with_support:
            row.append(rendering.number(pair.bootstrap_support, rendering.Scale(3)))
        cells = pair._further_cells(rendering.IN_A_SUMMARY)
        row += [cells.get(title, "") for title in further]
        rows.append(row)
    return rendering.Table(header, rows, 1 if shared else 2)


def strip_of(result: ComparisonResult, pair: PairedDifference) -> Strip:
    """Return the drawing of a difference, with its widest interval and 0 as reference."""
    replicates = result.replicates(pair.first, pair.second)
    low, high = pair._widest_interval
    scale = scale_of(pair)
    value, *limits = (rendering.number(number, scale) for number in (pair.difference, low, high))
    return Strip(
        replicates=replicates[np.isfinite(replicates)],
        estimate=pair.difference,
        low=low,
        high=high,
        naive=0.0,
        scale=scale,
        title=f"Bootstrap distribution of {pair.first} - {pair.second}",
        description=f"{pair.first} - {pair.second}: {value} ({' to '.join(limits)})",
    )


# ------------------------------------------------------------------ titles and summaries


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


def summary(
    result: ComparisonResult,
    options: rendering.TableOptions,
    between: str = "",
    further: Sequence[tuple[str, str]] = (),
) -> str:
    """Return title, tables and facts in plain text.

    Parameters
    ----------
    result : ComparisonResult
        What to describe.
    options : rendering.TableOptions
        What is asked of the tables.
    between : str
        A table that stands below those of every comparison.
    further : sequence of tuple (str, str)
        Facts that stand below those of every comparison.
    """
    tables = [rendering.text_table(systems_table(result, options))]
    tables += [rendering.text_table(pairs_table(result, options))]
    tables += [between] if between else []
    lines = rendering.text_list([*facts(result, options), *further])
    return "\n\n".join([title(result), *tables, lines])


# ------------------------------------------------------------------ a sentence for a paper


def claim(result: ComparisonResult) -> str:
    """Say the result for a paper; see `ComparisonResult.claim`."""
    centre = result.best if result.reference is None else result.reference
    differences = f"Of {len(result.pairs)} differences in {_metric(result)} between "
    differences += f"{len(result.systems)} "
    if len(result.pairs) == 1:
        text = _claim_of_pair(result, result.pairs[0])
    elif result.alternative != "two-sided":
        side = _SIDES[result.alternative]
        apart = [f"{pair.first} - {pair.second}" for pair in result.pairs if pair.excludes_zero]
        names = f": {wording.named(apart)}" if apart else ""
        text = (
            f"{differences}{result.estimand}s on {_rows(result)}, {len(apart)} were significantly "
            f"{side} 0{names} ({_adjustment_phrase(result)})."
        )
    elif centre is None:
        n_apart = sum(result.is_distinguishable(pair) for pair in result.pairs)
        text = (
            f"{differences}{result._compared}s {n_apart} differed significantly from 0 "
            f"({_adjustment_phrase(result)})."
        )
    else:
        text = _claim_with(result, centre)
    return text + wording.if_random_sample(result)


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
    sentence = f"{start}; {subject} {value}{fixed} ({_interval_of_pair(result, pair)})."
    outperformance = pair.outperformance
    if outperformance is not None and outperformance.n_pairs:
        # How often a run of the first beat the paired run of the second.
        share, low, high = map(rendering.percentage, outperformance[:3])
        level = rendering.percent(outperformance.confidence_level)
        on = " on bootstrap samples" if _is_left_out(result) else ""
        sentence += (
            f" {pair.first} beat {pair.second} in {share}% of "
            f"{wording.counted(outperformance.n_pairs, 'pair of runs')}{on} "
            f"({level} CI {low} to {high}%, given {_condition_phrase(result)})."
        )
    word = _comparative(result)
    not_significant = "The difference is not significant: this does not show that"
    if not result.is_distinguishable(pair) and pair.alternative != "two-sided":
        return f"{sentence} {not_significant} it is {_SIDES[pair.alternative]} 0."
    if not result.is_distinguishable(pair):
        return f"{sentence} {not_significant} one is {word}, nor that they are equal."
    winner, loser = _order_by_score(result, pair)
    verb = "scores" if result.greater_is_better is None else "is"
    return f"{sentence} {winner} {verb} significantly {word} than {loser}."


def _comparative(result: ComparisonResult) -> str:
    """Return "better", or "higher" where the direction of the metric is unknown."""
    return "higher" if result.greater_is_better is None else "better"


def _order_by_score(result: ComparisonResult, pair: PairedDifference) -> tuple[str, str]:
    """Return the names, that with the better score first; the higher, if no direction is known."""
    is_ordered = (pair.difference > 0) == (result.greater_is_better is not False)
    return (pair.first, pair.second) if is_ordered else (pair.second, pair.first)


def _interval_of_pair(result: ComparisonResult, pair: PairedDifference) -> str:
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
        details += _resampling_phrases(result, "both")
    if not math.isnan(pair.p_value):
        details.append(p_text(p_numbers(result, pair)[0]))
    return ", ".join(details)


def _claim_with(result: ComparisonResult, centre: str) -> str:
    """Return the claim that names systems better, worse and not distinguishable from one."""
    names_beside = [name for name in result._ordered_names if name != centre]
    groups: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
    for name in names_beside:
        pair = result.pair(name, centre)
        kind = "open"
        if result.is_distinguishable(pair):
            kind = "better" if _order_by_score(result, pair)[0] == name else "worse"
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
    return f"{start}{separator}{', '.join(clauses)} ({_adjustment_phrase(result)})."


def _adjustment_phrase(result: ComparisonResult) -> str:
    """Say how the intervals allow for the number of differences, and what was resampled."""
    level, n = rendering.percent(result.confidence_level), len(result.pairs)
    level = level if result.alternative == "two-sided" else f"one-sided {level}"
    resampled = "".join(f"; {text}" for text in _resampling_phrases(result, "all"))
    if result.training_share is not None:
        resampled += f"; methods{_size(result)}"
    if result.adjust is None:
        return f"{level} intervals of each difference by itself, not adjusted for {n}{resampled}"
    name = {"max-t": "max-t", "holm": "Holm and Bonferroni", "bonferroni": "Bonferroni"}
    return f"simultaneous {level} intervals over {n} differences, {name[result.adjust]}{resampled}"


def _is_left_out(result: ComparisonResult) -> bool:
    """Whether methods were scored on the rows left out of their training samples."""
    return result._any_system._basis.is_on_rows_left_out


def _resampling_phrases(result: ComparisonResult, for_whom: str) -> list[str]:
    """Say what was resampled for which systems in common; empty if nothing was."""
    if not result._is_paired:
        return ["independent resamples of each test set"]
    system = result._any_system
    if not system._basis.is_resampled:
        return []
    return [f"{wording.units(system)} resampled for {for_whom}"]


def _rows(result: ComparisonResult) -> str:
    """Say how many rows the scores are of, and how rows that were trained on are avoided."""
    if not result._is_paired:
        sizes = [thousands(system.n_samples) for system in result.systems.values()]
        return f"test sets of their own ({wording.listed(sizes)} rows)"
    return result._any_system._basis.rows(wording.n_scored(result))


def _size(result: ComparisonResult) -> str:
    """Say the size of the training samples of methods that are scored on rows left out of them."""
    if result.training_share is None:
        return ""
    share = f"{100 * result.training_share:.3g}%"
    return f" when trained on {share} of these {result._any_system.unit}s"


def _condition_phrase(result: ComparisonResult) -> str:
    """Say what P(A > B) over paired runs holds fixed."""
    if _is_left_out(result):
        return "this training set"
    listless = result._provenance.facts.varied == "independent" or wording.is_untrained(result)
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


def facts(result: ComparisonResult, options: rendering.TableOptions) -> list[tuple[str, str]]:
    """Return what a reader should know besides the tables, as label and text."""
    system, n = result._any_system, len(result.pairs)
    if wording.is_untrained(result):
        estimand = "difference of the methods' expected scores, over runs that differ as these do"
    elif result.training_share is None:
        estimand = _ESTIMANDS[result.estimand].format(wording.new_data(system))
    else:
        estimand = f"difference of the methods' expected performance{_size(result)}"
    adjusted = {
        "max-t": f"for {n} differences, by the largest deviation of all (max-t)",
        "holm": f"for {n} differences: p by Holm, simultaneous intervals by Bonferroni",
        "bonferroni": f"for {n} differences, by Bonferroni",
        None: f"not for the {n} differences: some of them may exclude 0 by chance",
    }[result.adjust]
    lines = [
        ("estimand", estimand),
        ("direction", wording.direction(result.greater_is_better) or _NO_DIRECTION),
        ("adjusted", adjusted if n > 1 else "one difference: nothing to adjust for"),
    ]
    side = result.alternative
    if side != "two-sided":
        text = (
            f"{side}: one-sided p-values, against the differences not being {_SIDES[side]} 0, and "
            f"intervals of {'lower' if side == 'greater' else 'upper'} limits alone"
        )
        lines.append(("alternative", text))
    elif len(result.systems) > 2 and result.indistinguishable_from_best is not None:
        text = f"{result.best}; all others differ significantly from it"
        if result.indistinguishable_from_best:
            names = wording.listed(result.indistinguishable_from_best)
            text = f"{result.best}; not significantly different from it: {names}"
        lines.append(("best", text))
    hidden = n - len(result._shown_pairs)
    if hidden:
        left_out = wording.counted(hidden, "difference")
        lines.append(("not shown", f"{left_out}; to_frame() and to_dict() hold them"))
    if system._basis.is_resampled:
        resampled = f"{wording.units(system)} for all {result._compared}s together"
        if not result._is_paired:
            units = dict.fromkeys(wording.units(score) for score in result.systems.values())
            resampled = f"{wording.listed(list(units))}, each test set by itself"
        resampled = f"to train on: {resampled}" if _is_left_out(result) else resampled
        lines.append(("resampled", f"{resampled}, {wording.counted(result.n_resamples, 'time')}"))
    lines += _facts_of_runs(result)
    if options.support and not any(pair.outperformance for pair in result._shown_pairs):
        event = f"the first scores {_comparative(result)}"
        words = {
            _WON: f"share of the resamples on which {event}, ties half",
            _DRAWS_WON: "share of the draws from the distribution of the errors on which "
            f"{event}, ties half",
            _SUPPORT: f"probability by Student's t, as the intervals, that {event}",
        }
        lines.append((support_of(result), words[support_of(result)]))
    if result.held_fixed:
        lines.append(("conditional on", wording.listed(result.held_fixed)))
    lines += wording.judged(result, system.n_samples)
    lines += [("note", note) for note in result.notes]
    return lines


def support_of(result: ComparisonResult) -> str:
    """Return the title of the column of `PairedDifference.bootstrap_support`: what it is of."""
    if any(pair.n_runs for pair in result._shown_pairs):
        return _SUPPORT
    return _WON if result._any_system._basis.is_resampled else _DRAWS_WON


def _facts_of_runs(result: ComparisonResult) -> list[tuple[str, str]]:
    """Return P(A > B) of each pair shown, with the rule for reading it, as label and text."""
    shown = [
        pair for pair in result._shown_pairs if pair.outperformance and pair.outperformance.n_pairs
    ]
    if not shown:
        return []
    on = ""
    if _is_left_out(result):
        on = " on bootstrap samples, which hold 63.2% of the distinct rows,"
    lines = [
        (
            "P(A > B)",
            f"share of pairs of runs{on} in which A scores better than B, conditional on "
            f"{_condition_phrase(result)}: it does not hold for other rows. Significant if the "
            "interval lies on one side of .5, and meaningful if it reaches beyond .75 or .25 "
            "(Bouthillier et al. 2021)",
        )
    ]
    if len(shown) <= _MAX_VERDICTS:
        for pair in shown:
            outperformance = pair.outperformance
            assert outperformance is not None
            name = f"P({pair.first} > {pair.second})"
            counted = wording.counted(outperformance.n_pairs, "pair")
            text = f"{share_text(outperformance)} over {counted} of runs: {outperformance.verdict}"
            if outperformance.is_significant:
                winner = pair.first if outperformance.probability > 0.5 else pair.second
                text += f" for {winner} on these rows"
                if not pair.excludes_zero:
                    text += "; not shown on others: the interval of the difference holds 0"
            lines.append((name, text))
    return lines
