"""What a pair of systems decides: verdicts with a margin, and equivalence."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from .._base.messages import fail, refuse, thousands
from ..inference._tuning import FEW_CARRIERS, FEW_COMPARED
from ..inference.confidence_interval import ConfidenceInterval, range_of_difference
from ..inference.differences import HOLDS_FOR_FEW
from ..inference.intervals import title_of
from ..inference.proportions import Discordant, tango_limits
from ..inference.verdicts import FEW_DEGREES, Verdict, detectable_margin, outcome_of
from . import rendering, wording
from .comparison_tables import method_name, scale_of, scales_of_scores

if TYPE_CHECKING:
    from .comparison import ComparisonResult
    from .pairs import PairedDifference


def verdict_of(pair: PairedDifference, margin: Any) -> Verdict:
    """Return the verdict on a pair; see `PairedDifference.verdict`."""
    margin = check_margin(margin)
    check_below_range("margin", margin, pair.metric, pair.comparison.bounds)  # type: ignore[union-attr]
    interval = _deciding_interval(pair)
    if pair.greater_is_better is None:
        raise unknown_direction("verdict")
    advantage = interval if pair.greater_is_better else interval.mirrored()
    low, high = advantage
    outcome = outcome_of(low, high, margin)
    smallest = math.nan if math.isnan(low) else max(0.0, -low)
    detectable = _detectable(pair, interval)
    verdict = Verdict(outcome, margin, smallest, detectable, advantage, "")
    return replace(verdict, statement=_statement(pair, interval, verdict))


def check_margin(margin: Any) -> float:
    """Accept a finite number of at least 0."""
    is_number = isinstance(margin, Real) and not isinstance(margin, bool | np.bool_)
    if is_number and 0 <= float(margin) < math.inf:
        return float(margin)
    advice = "It is how much worse the first may be, whatever the direction of the metric."
    raise fail("margin", "be a finite number of at least 0", repr(margin), advice)


def check_below_range(name: str, value: float, metric: str, bounds: tuple[float, float]) -> None:
    """Refuse a margin, or a difference, as large as the range of the metric."""
    low, high = bounds
    if value < high - low:
        return
    must = f"be below {high - low:g}, the range of {metric} ({low:g} to {high:g})"
    advice = (
        "No two systems can be further apart. It is in units of the metric: a hundredth of its "
        f"range is {name}={(high - low) / 100:g}."
    )
    raise fail(name, must, f"{value:g}", advice)


def equivalence_margin_of(pair: PairedDifference) -> float:
    """Return the largest absolute limit; see `PairedDifference.equivalence_margin`."""
    low, high = _deciding_interval(pair)
    return float(np.maximum(abs(low), abs(high)))


def unknown_direction(what: str) -> ValueError:
    """Make the error of a decision where it is not known which direction is better."""
    return refuse(
        f"a {what} needs to know whether larger values of the metric are better. Give "
        "greater_is_better=True or False to the comparison."
    )


def one_sided(what: str, alternative: str) -> ValueError:
    """Make the error of a decision that intervals of one side cannot give."""
    return refuse(
        f"{what} needs two-sided intervals, and these were made with "
        f"alternative={alternative!r}. Compare with alternative='two-sided'."
    )


def few_compared(unit: str, n_units: int | tuple[int, ...]) -> str:
    """Return the caution for a comparison of few units; empty where there are enough."""
    fewest = int(np.min(n_units))
    if fewest >= FEW_COMPARED:
        return ""
    units = wording.counted(fewest, unit)
    verb = "was" if fewest == 1 else "were"
    return f"Only {units} {verb} compared (fewer than {FEW_COMPARED}): such a result is rough."


def few_decide(pair: PairedDifference) -> str:
    """Return the caution for a difference that few units decide; empty where enough do.

    Closed forms of shares and smoothed tables hold for any number of them.
    """
    number, method = pair.n_deciding, pair.confidence_interval.method
    if number is None or not number < FEW_CARRIERS or method in HOLDS_FOR_FEW:
        return few_compared(pair.unit, pair.n_units)
    about = min(round(number), FEW_CARRIERS - 1)
    decide = f"{wording.counted(about, pair.unit)} {'decides' if about == 1 else 'decide'}"
    return f"About {decide} this difference (fewer than {FEW_CARRIERS}): such a result is rough."


def verdict_table(result: ComparisonResult, verdict: Verdict) -> rendering.Table:
    """Return a row with what was compared, both scores, the interval that decides and the verdict.

    Parameters
    ----------
    result : ComparisonResult
        Of two systems.
    verdict : Verdict
        On its pair.
    """
    [pair] = result.pairs
    interval, of_scores = _deciding_interval(pair), scales_of_scores(result)
    scale, names = scale_of(pair, interval), (pair.first, pair.second)
    level = rendering.percent(interval.confidence_level)
    title = title_of(interval.method, method_name(interval.method))
    header = ["metric", "verdict", "n", pair.first, pair.second, "difference"]
    cells = [
        wording.spoken(result.metric),
        verdict.outcome,
        thousands(wording.n_scored(result)),
        *(rendering.number(result.systems[name].estimate, of_scores[name]) for name in names),
        rendering.number(pair.difference, scale),
        rendering.limits(interval, scale),
        f"{verdict.margin:g}",
    ]
    return rendering.Table([*header, f"{level} CI ({title})", "margin"], [cells], 2)


# ------------------------------------------------------------------ steps


def _deciding_interval(pair: PairedDifference) -> ConfidenceInterval:
    """Return the interval that decides: closed for right and wrong and for areas, or the widest."""
    if pair.alternative != "two-sided":
        raise one_sided("a verdict", pair.alternative)
    level, quantile = pair.confidence_interval.confidence_level, _score_quantile(pair)
    if pair.areas is not None:
        interval = ConfidenceInterval(*pair.areas.limits(quantile), level, "logit-delong")
    elif pair.discordant is not None:
        limits = tango_limits(Discordant(*pair.discordant), quantile)
        interval = ConfidenceInterval(*limits, level, "tango")
    else:
        return pair.widest_interval
    return interval.within(*range_of_difference(pair.comparison.bounds))  # type: ignore[union-attr]


def _score_quantile(pair: PairedDifference) -> float:
    """Quantile of the normal distribution that the widest interval reaches out to."""
    own = float(ndtri(0.5 + pair.confidence_interval.confidence_level / 2))
    if pair.simultaneous_interval is not None and pair.simultaneous_quantile is not None:
        # Of resamples that hardly vary the joint quantile can be smaller.
        return max(own, pair.simultaneous_quantile)
    return own


def _detectable(pair: PairedDifference, interval: ConfidenceInterval) -> float:
    """Return the margin that would pass with 80 % probability if both were equal."""
    if pair.discordant is not None:
        # As if the rows that tell them apart were split evenly.
        half = sum(pair.discordant[:2]) / 2
        n = pair.discordant[2]
        low, _ = tango_limits(Discordant(half, half, n), _score_quantile(pair))  # type: ignore[arg-type]
        return detectable_margin(-low, math.sqrt(2 * half) / n, math.inf)
    if pair.areas is not None:
        low, _ = pair.areas.as_if_equal().limits(_score_quantile(pair))
        return detectable_margin(-low, pair.areas.error, pair.areas.smaller_class - 1)
    low, high = interval
    greater = pair.greater_is_better is not False
    half_width = pair.difference - low if greater else high - pair.difference
    return detectable_margin(half_width, standard_error_of(pair), _degrees_of_freedom(pair))


def _degrees_of_freedom(pair: PairedDifference) -> float:
    return math.inf if pair.degrees_of_freedom is None else float(pair.degrees_of_freedom)


def standard_error_of(pair: PairedDifference) -> float:
    """Return the standard error; that of resamples is too small by sqrt(df / n) for few units."""
    if pair.estimand != "system":
        return pair.standard_error
    return pair.standard_error * math.sqrt(_fewest_units(pair) / freedom_of(pair))


def freedom_of(pair: PairedDifference) -> float:
    """Degrees of freedom of the standard error; without resamples, one less than the units."""
    if pair.degrees_of_freedom is not None:
        return float(pair.degrees_of_freedom)
    return max(_fewest_units(pair) - 1.0, 1.0)


def _fewest_units(pair: PairedDifference) -> int:
    return min(pair.n_units) if isinstance(pair.n_units, tuple) else pair.n_units


# ------------------------------------------------------------------ words


def _statement(pair: PairedDifference, interval: ConfidenceInterval, verdict: Verdict) -> str:
    """Return the verdict in words."""
    outcome, margin, scale = verdict.outcome, verdict.margin, scale_of(pair, interval)
    metric = wording.spoken(pair.metric)
    one, other = map(rendering.one_line, (pair.first, pair.second))
    by_margin = f"than {other} in {metric} by more than {margin:g}"
    is_better = verdict.interval.low > 0
    also = ", and significantly better" if is_better else ""
    said = {
        ("pass", True): f"{one} is significantly better than {other} in {metric}",
        ("fail", True): f"{one} is significantly worse than {other} in {metric}",
        ("inconclusive", True): f"it is not shown which of {one} and {other} is better in {metric}",
        ("pass", False): f"{one} is not worse {by_margin}{also}",
        ("fail", False): f"{one} is worse {by_margin}",
        ("inconclusive", False): f"it is not shown whether {one} is worse {by_margin}",
    }[outcome, margin == 0]
    if math.isnan(interval.low) or math.isnan(interval.high):
        return f"{outcome}: {said} (the difference has no interval)."
    limit = interval.high if pair.greater_is_better is False else interval.low
    # The smallest margin is a limit, but for its sign.
    least = rendering.number(verdict.smallest_margin, scale.decimals(limit))
    least = least if verdict.smallest_margin else "0"
    parts = [] if is_better else [f"Margins above {least} pass{_could_show(pair, verdict)}."]
    parts += filter(None, [few_decide(pair)])
    return " ".join([f"{outcome}: {said} ({_numbers(pair, interval)}).", *parts])


def _numbers(pair: PairedDifference, interval: ConfidenceInterval) -> str:
    """Write the difference, its sign if that misleads, and the interval that decides."""
    scale, shown = scale_of(pair, interval), pair.widest_interval
    sign = ", where smaller is better" if pair.greater_is_better is False else ""
    joint = "simultaneous " if _is_simultaneous(pair) else ""
    level = rendering.percent(interval.confidence_level)
    own, other = (title_of(each.method, method_name(each.method)) for each in (interval, shown))
    name = f", {own}"
    if interval.method != shown.method:
        name = f" by {own}'s method, which decides instead of the {other} interval"
    return (
        f"difference {rendering.number(pair.difference, scale)}{sign}, {joint}{level} CI "
        f"{rendering.limits(interval, scale)}{name}"
    )


def _could_show(pair: PairedDifference, verdict: Verdict) -> str:
    """Return what a comparison of this size can show, for a verdict that is not passed."""
    if verdict.passed or math.isnan(verdict.detectable_margin):
        return ""
    rough = ""
    if _degrees_of_freedom(pair) < FEW_DEGREES and pair.discordant is None:
        rough = f" (roughly: {pair.degrees_of_freedom:.3g} degrees of freedom tell little of it)"
    return (
        "; if both were equally good, a comparison of this size would pass a margin of "
        f"{rendering.number(verdict.detectable_margin, scale_of(pair))} in 80 % of cases{rough}"
    )


def _is_simultaneous(pair: PairedDifference) -> bool:
    """Whether the widest interval allows for other pairs."""
    wide, own = pair.simultaneous_interval, pair.confidence_interval
    return wide is not None and wide.method != own.method
