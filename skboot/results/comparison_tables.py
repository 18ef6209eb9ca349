"""How a comparison is laid out: which differences are shown, in which cells, with which digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..inference.differences import words_of_difference
from ..inference.intervals import title_of
from ..inference.outperformance import Outperformance
from . import rendering, wording
from .drawing import Strip

if TYPE_CHECKING:
    from ..inference.confidence_interval import ConfidenceInterval
    from .comparison import ComparisonResult
    from .pairs import PairedDifference

# Largest number of differences that a summary or a picture shows; of more than this it shows those
# with the best system, because a reader compares with the best and all of 20 systems fill 190 rows.
MAX_SHOWN = 15
_METHODS = {
    "max-t": "max-t",
    "bonferroni": "Bonferroni",
    "components": "t interval from variance components",
    "welch": "Welch's t interval over runs",
    "adjusted": "t interval with the adjusted standard error of the out-of-bag difference",
    "cv-bootstrap": "t interval with the spread of bootstrap samples",
}
# P-values below this one are written as being below it.
_LEAST_SHOWN = 0.0001
# Title of the column of `PairedDifference.bootstrap_support`.
SUPERIORITY = "P(superiority)"
IN_A_SUMMARY = rendering.TableOptions(p_values=True)
"""Tables of a summary: all numbers, and the scores in a table of their own."""


def shown_pairs(result: ComparisonResult) -> tuple[PairedDifference, ...]:
    """Return all pairs if they are few; else those with the best system, the nearest first."""
    if len(result.pairs) <= MAX_SHOWN or result.reference is not None:
        return result.pairs
    best = result.best or result._in_order[0]
    others = [name for name in result._in_order if name != best]
    return tuple(result.pair(best, name) for name in others)


def systems_table(result: ComparisonResult) -> rendering.Table:
    """Return the table of the systems, from the best, which is in bold."""
    level = rendering.percent(result.confidence_level)
    scales = _scales(result, IN_A_SUMMARY)
    best = _best(result, scales)
    rows = []
    for name in result._in_order:
        system = result.systems[name]
        value = rendering.number(system.estimate, scales[name])
        interval = system.confidence_interval
        cell = rendering.Best(value) if value == best else value
        limits = rendering.limits(interval, scales[name])
        rows.append([name, cell, limits, wording.method_title(interval)])
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
        columns.append(_scores_of(result, options))
        titles.append(f"{spoken} ({rendering.percent(result.confidence_level)} CI)")
        if options.p_values:
            centre = result.reference or result.best or result._in_order[0]
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


def _scores_of(result: ComparisonResult, options: rendering.TableOptions) -> dict[str, str]:
    """Return "0.85 (0.80 to 0.90)" of each system, with the same digits for all."""
    scales = _scales(result, options)
    best = _best(result, scales)
    cells = {}
    for name, system in result.systems.items():
        value, digits = rendering.number(system.estimate, scales[name]), scales[name]
        low, high = system.confidence_interval
        interval = "(no interval)"
        if not (math.isnan(low) or math.isnan(high)):
            interval = f"({rendering.limits(system.confidence_interval, digits, marked=False)})"
        cell = value if math.isnan(system.estimate) else f"{value} {interval}"
        cells[name] = rendering.Best(cell) if value == best else cell
    return cells


def _scales(
    result: ComparisonResult, options: rendering.TableOptions
) -> Mapping[str, int | rendering.Scale]:
    """Return the decimals of each system's score: those asked for, or those that all need."""
    if options.digits is None:
        return scales_of_scores(result)
    return dict.fromkeys(result.systems, options.digits)


def _best(result: ComparisonResult, scales: Mapping[str, int | rendering.Scale]) -> str | None:
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
    """Return the table of differences: those that `shown_pairs` gives, unless others are given."""
    pairs = result._shown_pairs if pairs is None else pairs
    columns = _columns(result, pairs, options)
    level = rendering.percent(result.confidence_level)
    methods = list(dict.fromkeys(method_title(pair) for pair in pairs))
    # A method that all share is named once, in the title: rows are wide enough without it.
    shared = len(methods) == 1
    header = ["difference", *([] if shared else ["interval"])]
    metric = wording.spoken(result.metric)
    header += [f"{metric} of first", "of second"] * columns.scores + ["estimate"]
    header += [f"{level} CI ({methods[0]})" if shared else f"{level} CI"]
    header += ["simultaneous"] * columns.adjusted
    header += columns.with_p * (["p"] + ["adjusted p"] * columns.adjusted)
    runs = any(pair.outperformance is not None for pair in pairs)
    header += ["P(A > B)" if runs else SUPERIORITY, *columns.further]
    rows = []
    for pair in pairs:
        names = rendering.Difference(pair.first, pair.second)
        method = [] if shared else [method_title(pair)]
        rows.append([names, *method, *_pair_cells(result, pair, columns)])
    return rendering.Table(header, rows, 1 if shared else 2)


class _Columns(NamedTuple):
    """Which columns of numbers a table of differences has.

    Attributes
    ----------
    digits : int or None
        Decimals that are asked for.
    scores, adjusted, with_p : bool
        Whether there are scores of both systems, simultaneous intervals, p-values.
    further : sequence of str
        Titles of those that only some comparisons have.
    """

    digits: int | None
    scores: bool
    adjusted: bool
    with_p: bool
    further: Sequence[str]


def _columns(
    result: ComparisonResult, pairs: Sequence[PairedDifference], options: rendering.TableOptions
) -> _Columns:
    further: dict[str, str] = {}
    for pair in pairs:
        further |= pair._further_cells(options)
    adjusted = result.adjust is not None and len(result.pairs) > 1
    with_p = options.p_values and any(map(_may_have_p, pairs))
    return _Columns(options.digits, options.scores, adjusted, with_p, list(further))


def _may_have_p(pair: PairedDifference) -> bool:
    """Return whether there is a p-value, or a reason why there is neither that nor an interval."""
    return not math.isnan(pair.p_value) or math.isnan(sum(pair.confidence_interval))


def _pair_cells(result: ComparisonResult, pair: PairedDifference, columns: _Columns) -> list[str]:
    """Return the numbers of a pair."""
    simultaneous = pair.simultaneous_interval
    digits = scale_of(pair) if columns.digits is None else columns.digits
    own, scores = pair._further_cells(IN_A_SUMMARY), list[str]()
    if columns.scores:
        of_scores = _scales(result, rendering.TableOptions(columns.digits))
        both = (pair.first, pair.second)
        scores = [rendering.number(result.systems[n].estimate, of_scores[n]) for n in both]
    return [
        *scores,
        rendering.number(pair.difference, digits),
        rendering.limits(pair.confidence_interval, digits),
        *(
            [rendering.limits(simultaneous, digits) if simultaneous else ""]
            if columns.adjusted
            else []
        ),
        *(p_numbers(result, pair)[: 1 + columns.adjusted] if columns.with_p else []),
        rendering.number(pair.bootstrap_support, rendering.Scale(3))
        if pair.outperformance is None
        else share_text(pair.outperformance),
        *(own.get(title, "") for title in columns.further),
    ]


def method_title(pair: PairedDifference) -> str:
    """Return the name of the interval of a pair as papers print it."""
    method = pair.confidence_interval.method
    return title_of(method, method_name(method))


def method_name(method: str, *, paired: bool = True) -> str:
    """Return the name of an interval of a difference, in words."""
    if method in _METHODS:
        return _METHODS[method]
    return words_of_difference(method, paired=paired)


def strip_of(result: ComparisonResult, pair: PairedDifference) -> Strip:
    """Return the drawing of a difference, with its widest interval and 0 as reference."""
    replicates = result.replicates(pair.first, pair.second)
    low, high = pair.widest_interval
    scale = scale_of(pair)
    labels = tuple(rendering.number(value, scale) for value in (pair.difference, low, high, 0.0))
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


def scales_of_scores(result: ComparisonResult) -> dict[str, rendering.Scale]:
    """Return the decimals of each system's score, in tables as in sentences.

    All have those that the system with the narrowest interval needs, if these are at most two more.
    No two systems that can be told apart are written alike, unless that takes more than two digits
    more.
    """
    systems = result.systems
    needed = rendering.alike([wording.scale_of(system) for system in systems.values()])
    apart = [pair for pair in result.pairs if result.is_distinguishable(pair)]
    for more in range(rendering.MOST_MORE_DIGITS + 1):
        scales = {name: scale + more for name, scale in zip(systems, needed, strict=True)}
        texts = {n: rendering.number(systems[n].estimate, scale) for n, scale in scales.items()}
        if all(texts[pair.first] != texts[pair.second] for pair in apart):
            return scales
    return dict(zip(systems, needed, strict=True))


def scale_of(pair: PairedDifference, *intervals: ConfidenceInterval) -> rendering.Scale:
    """Return the decimals of a difference, at least those of all of its comparison.

    Other intervals than those of the pair may stand beside them.
    """
    if pair.comparison is None:
        return pair._scale(*intervals)
    facts = pair.comparison
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
