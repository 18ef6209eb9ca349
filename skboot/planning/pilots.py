"""What a pilot says of evaluations of other sizes.

`pilot_of_result`, `pilot_of_pair` and `pilot_of_share` read its error and the error of that; what
would not narrow as planning takes for granted is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._base.errors import collected, fail
from ..inference.evidence import Evidence
from ..inference.intervals import value_range
from ..inference.planning import (
    AreasSpread,
    DiscordantSpread,
    ShareSpread,
    Spread,
    variance_factors,
)
from ..inference.proportions import SHARE_LIMITS, Discordant, TwoAreas
from ..inference.tables import beta_limits
from ..resampling.design import DESIGNS
from ..results.comparison import check_below_range, one_sided, unknown_direction

if TYPE_CHECKING:
    from ..inference.evidence import ConfidenceInterval
    from ..inference.runs import RunsEvidence, TIntervalParts
    from ..results import EvaluationResult
    from ..results.comparison import ComparisonFacts, PairedDifference

AnySpread: TypeAlias = Spread | ShareSpread | DiscordantSpread | AreasSpread
Extremes: TypeAlias = Callable[[int, int | None], tuple[AnySpread, AnySpread]]


# Units, groups or runs below which a pilot's own spread is little more than a guess.
FEW = 10
# Intervals whose width uses normal quantiles; the others widen as Student's t does.
_OF_NORMAL_WIDTH = {"percentile", "basic", "normal", "bca", "delong"}


@dataclass(frozen=True)
class Pilot:
    """What an evaluation says of evaluations of other sizes.

    Attributes
    ----------
    spread : Spread, ShareSpread, DiscordantSpread or AreasSpread
        Its error by size.
    extremes : callable or None
        From units and runs that are planned to the least and the largest error that the pilot's own
        uncertainty allows.
    unit, metric : str
        In words.
    confidence_level : float
        Of the plan.
    n_units, n_runs : int or None
        Size of the pilot.
    one_sided : bool
        Whether its interval has one limit.
    notes : tuple of str
        What must be known of it.
    rows_per_unit : float or None
        Rows of a group, on average; None where the units are rows.
    """

    spread: AnySpread
    extremes: Extremes | None
    unit: str
    metric: str
    confidence_level: float
    n_units: int | None = None
    n_runs: int | None = None
    one_sided: bool = False
    notes: tuple[str, ...] = ()
    rows_per_unit: float | None = None

    def with_rows(self, n_rows: int | None) -> Pilot:
        """Return the pilot with the number of its rows, where its units are others."""
        if self.unit == "row" or n_rows is None or self.n_units is None:
            return self
        return replace(self, rows_per_unit=n_rows / self.n_units)

    @property
    def runs_matter(self) -> bool:
        """Whether more runs would lessen the error."""
        return isinstance(self.spread, Spread) and self.spread.runs + self.spread.both > 0

    @property
    def least_runs(self) -> int:
        """Fewest runs that have a variance."""
        return 1 if isinstance(self.spread, Spread) and self.spread.of_one_list else 2

    @property
    def least_units(self) -> int:
        """Fewest units that have a variance."""
        return self.spread.n_strata + 1 if isinstance(self.spread, Spread) else 1


def pilot_of_share(share: float, confidence_level: float) -> Pilot:
    """Return what a known proportion says of Wilson's interval."""
    spread = ShareSpread(share, SHARE_LIMITS["wilson"])
    return Pilot(spread, None, "row", f"a proportion of {share:g}", confidence_level)


def pilot_of_result(result: EvaluationResult, confidence_level: float | None) -> Pilot:
    """Return what the result of a system, or of the runs of a method, says of other sizes."""
    _check_result(result)
    level = confidence_level or result.confidence_interval.confidence_level
    if result.estimand == "system":
        return _pilot_of_system(result, level)
    runs = result.basis.run_evidence  # type: ignore[attr-defined]
    spread = _spread_of_runs(result, runs, runs.method)
    n_lists = round(spread.df_runs) + 1
    n_runs = n_lists if not spread.of_one_list else len(runs.full_scores)
    return Pilot(
        _varying(spread),
        _extremes(spread, level),
        result.unit,
        result.metric,
        level,
        spread.n_units,
        n_runs,
        notes=_notes_of(spread, result.unit, n_lists),
    )


def pilot_of_pair(
    pair: PairedDifference, target: str, value: float, confidence_level: float | None
) -> Pilot:
    """Return what a pair of systems, or of methods on a test set, says of other sizes."""
    facts = _checked_facts(pair, target)
    check_below_range(target, value, facts.metric, facts.bounds)
    level = confidence_level or pair.confidence_interval.confidence_level
    spread = _varying(_spread_of_pair(pair, int(facts.n_units)))  # type: ignore[arg-type]
    used: AnySpread = spread
    extremes = _extremes(spread, level)
    if pair.discordant is not None:
        used, extremes = _by_discordant_rows(pair.discordant, spread, target, level)
    if pair.areas is not None and target == "margin":
        used, extremes = _by_areas(pair.areas, spread, level)
    return Pilot(
        used,
        extremes,
        facts.unit,
        facts.metric,
        level,
        spread.n_units,
        None if spread.n_runs is None else math.ceil(spread.n_runs),
        pair.alternative != "two-sided",
        _notes_of_pair(pair, facts, spread),
    )


# ------------------------------------------------------------------ what can be a pilot


def _check_result(result: EvaluationResult) -> None:
    """Refuse a result whose interval does not narrow as planning takes for granted."""
    if result.estimand not in ("system", "method"):
        advice = "A prediction or a spread of runs does not narrow with more data."
        raise _not_a_pilot(
            "be for the estimand 'system' or 'method'", repr(result.estimand), advice
        )
    design = result.evidence.drawn.design
    if design.n_factors > 1 or design.same_population:
        raise _crossed(result.unit)
    if result.basis.is_gap:
        raise _not_a_pilot("be the score of one system", "the largest disparity between subgroups")
    if result.estimand == "method" and not hasattr(result.basis, "run_evidence"):
        raise _no_test_set("a method")
    if result.confidence_interval.method == "t" and result.estimand == "method":
        raise _held_fixed("t")
    if not all(map(math.isfinite, (result.estimate, *result.confidence_interval))):
        raise _not_a_pilot("have an interval", "a result without limits")


def _checked_facts(pair: PairedDifference, target: str) -> ComparisonFacts:
    """Return what the comparison of a pair knows; refuse pairs that are no pilots."""
    facts = pair.comparison
    if facts is None:
        raise _not_a_pilot("be a pair of a ComparisonResult", "a pair without its comparison")
    crossed = [one.unit for one in DESIGNS.values() if one.n_factors > 1 or one.same_population]
    if facts.unit in crossed or not isinstance(facts.n_units, int):
        raise _crossed(facts.unit)
    if facts.estimand == "method" and pair.components is None:
        raise _no_test_set("a pair of methods")
    if pair.confidence_interval.method == "welch":
        raise _held_fixed("welch")
    if np.isnan(pair.confidence_interval).any():
        raise _not_a_pilot("have an interval", "a pair without limits")
    if target == "margin":
        if pair.alternative != "two-sided":
            raise one_sided("a margin", pair.alternative)
        if facts.greater_is_better is None:
            raise unknown_direction("margin")
    return facts


def _not_a_pilot(must: str, got: str, advice: str = "") -> ValueError:
    return fail("pilot", must, got, advice)


def _crossed(unit: str) -> ValueError:
    got = f"one whose unit is a {unit}"
    advice = "With two crossed factors a pilot does not show which of them needs more members."
    return _not_a_pilot("have rows or groups as units", got, advice)


def _no_test_set(what: str) -> ValueError:
    advice = (
        "Without one, more rows also improve the training, and one size does not show by how "
        "much. Give X_test and y_test, or use bootstrap_runs or compare_runs."
    )
    return _not_a_pilot("stand on a test set", f"{what} scored on rows left out", advice)


def _held_fixed(interval: str) -> ValueError:
    got = f"the interval {interval!r}, which holds the test rows fixed"
    return _not_a_pilot("have an interval over test rows", got, "Use interval='components'.")


# ------------------------------------------------------------------ spreads


def _pilot_of_system(result: EvaluationResult, level: float) -> Pilot:
    """Return what the score of one system says."""
    evidence, shown = result.evidence, result.confidence_interval
    n, share = evidence.drawn.n_units[0], evidence.share
    limits = {**SHARE_LIMITS, "beta": beta_limits}.get(shown.method)
    if share is not None and limits is not None:
        return _pilot_of_counts(result, share.hits, n, ShareSpread(share.hits / n, limits), level)
    drawn, k = evidence.drawn, evidence.drawn.n_strata
    student = shown.method not in _OF_NORMAL_WIDTH
    factor = n / max(n - k, 1) * drawn.unequal if student else 1.0
    variance, worth = factor * result.standard_error**2, drawn.n_equal / n
    spread = _varying(Spread(n, variance, n_strata=k, student=student, worth=worth))
    share_of_bounds = _factors_of_bounds(evidence, _at_level(result, level))
    return Pilot(
        spread,
        _extremes(spread, level, share_of_bounds),
        result.unit,
        result.metric,
        level,
        n,
        notes=_notes_of(spread, result.unit, None),
    )


def _at_level(result: EvaluationResult, level: float) -> ConfidenceInterval:
    """Return the interval of a pilot at the level of the plan."""
    shown = result.confidence_interval
    if level == shown.confidence_level:
        return shown
    method: Any = shown.method
    # That resamples are too few for a level is of no matter for a range of sizes.
    with collected():
        return result.interval(method, level)


def _pilot_of_counts(
    result: EvaluationResult, hits: int, n: int, spread: ShareSpread, level: float
) -> Pilot:
    """Return what a proportion of independent rows says: Wilson's limits bound the share."""
    limits = SHARE_LIMITS["wilson"](hits, n, level)
    shares = [*limits, 0.5] if limits[0] < 0.5 < limits[1] else list(limits)
    by_width = sorted(shares, key=lambda share: share * (1 - share))
    ends = ShareSpread(by_width[0], spread.limits), ShareSpread(by_width[-1], spread.limits)
    notes = [_caution_of_few(n, "row")] if n < FEW else []
    if hits in (0, n):
        notes.append(
            f"The pilot shows {'only' if hits == n else 'no'} hits, so the plan may be for too "
            "extreme a share: see the larger end of the range."
        )
    extremes = _of_any_size(*ends)
    return Pilot(spread, extremes, "row", result.metric, level, n, notes=tuple(notes))


def _spread_of_runs(result: EvaluationResult, runs: RunsEvidence, parts: TIntervalParts) -> Spread:
    """Return the squared standard error of a method by what lessens it."""
    of = parts.parts
    of_one_list = runs.varied in ("training", "both")
    n_samples = len(runs.scores)
    if of_one_list and result.runs is not None:
        n_samples = len({int(sample) for sample in result.runs["training"] if sample >= 0})
    return Spread(
        n_units=runs.n_test_units,
        units=of.test,
        both=of.interaction,
        runs=of.seed + (0.0 if of_one_list else of.training),
        fixed=of.training if of_one_list else 0.0,
        n_runs=len(runs.full_scores) if of_one_list else len(runs.scores),
        n_strata=runs.system.drawn.n_strata,
        df_runs=n_samples - 1,
        of_one_list=of_one_list,
    ).with_degrees_of_freedom(parts.degrees_of_freedom)


def _spread_of_pair(pair: PairedDifference, n_units: int) -> Spread:
    """Return the squared standard error of a difference by what lessens it."""
    facts, df = pair.comparison, pair.degrees_of_freedom
    assert facts is not None
    if pair.components is None or pair.n_runs is None:
        student = pair.confidence_interval.method not in _OF_NORMAL_WIDTH
        # Few units that move a difference have fewer degrees of freedom than all of them.
        n_strata = 1 if df is None else facts.drawn.n_strata
        n_equal = facts.drawn.n_equal if df is None else df + n_strata
        factor = n_units / max(n_units - n_strata, 1) * facts.drawn.unequal if student else 1.0
        variance, worth = factor * pair.standard_error**2, n_equal / n_units
        freedom = math.inf if pair.error_freedom is None else pair.error_freedom
        spread = Spread(n_units, variance, n_strata=n_strata, student=student, worth=worth)
        return replace(spread, error_freedom=freedom)
    # Both methods are taken to vary alike: their parts are not known one by one.
    n_runs = 2 / sum(1 / n for n in pair.n_runs)
    of_one_list = facts.varied in ("training", "both")
    of_runs, of_test = pair.components["runs"], pair.components["test"]
    return Spread(
        n_units=n_units,
        units=of_test,
        runs=0.0 if of_one_list else of_runs,
        fixed=of_runs if of_one_list else 0.0,
        n_runs=n_runs,
        df_runs=(n_runs - 1) * (1 if facts.paired_runs else 2),
        of_one_list=of_one_list,
    ).with_degrees_of_freedom(df or math.inf)


def _by_discordant_rows(
    counts: Discordant, spread: Spread, target: str, level: float
) -> tuple[AnySpread, Extremes]:
    """Return the error of two systems that are right or wrong, and what the pilot allows.

    The variance goes as the share of rows that tell the systems apart. Verdicts with a margin are
    by Tango's interval, whatever interval is shown.
    """
    differ, n = sum(counts[:2]), counts[2]
    ends = SHARE_LIMITS["wilson"](differ, n, level)
    if target == "margin":
        return DiscordantSpread(differ / n), _of_any_size(*map(DiscordantSpread, ends))
    return spread, _of_any_size(*(spread.scaled(end * n / differ) for end in ends))


def _by_areas(areas: TwoAreas, spread: Spread, level: float) -> tuple[AnySpread, Extremes]:
    """Return the error of two areas, by whose closed interval verdicts with a margin are made."""

    def of_size(n_units: int, n_runs: int | None) -> tuple[AreasSpread, AreasSpread]:
        low, high = variance_factors(spread.known_with(n_units, n_runs), level)
        least, largest = areas.on_rows(1.0, low), areas.on_rows(1.0, high)
        return AreasSpread(least, spread.n_units), AreasSpread(largest, spread.n_units)

    return AreasSpread(areas, spread.n_units), of_size


def _varying(spread: Spread) -> Spread:
    """Return a spread that is not 0; refuse one that is."""
    if spread.variance(spread.n_units) > 0:
        return spread
    advice = "A plan needs a pilot with errors; for a proportion, give proportion= instead."
    raise _not_a_pilot("vary", "one in which neither units nor runs vary", advice)


def _extremes(spread: Spread, level: float, others: tuple[float, float] = (1.0, 1.0)) -> Extremes:
    """Return from a planned size the least and the largest spread that the pilot allows.

    ``others`` are factors for another source of error of the variance; as errors that are
    independent do, both add up by their squares, on the scale of logarithms.
    """

    def of_size(n_units: int, n_runs: int | None) -> tuple[Spread, Spread]:
        factors = variance_factors(spread.known_with(n_units, n_runs), level)
        low, high = (
            math.hypot(math.log(one), math.log(other))
            for one, other in zip(factors, others, strict=True)
        )
        return spread.scaled(math.exp(-low)), spread.scaled(math.exp(high))

    return of_size


def _of_any_size(least: AnySpread, largest: AnySpread) -> Extremes:
    return lambda n_units, n_runs: (least, largest)


def _factors_of_bounds(evidence: Evidence, shown: ConfidenceInterval) -> tuple[float, float]:
    """Return how much smaller and larger the variance may be where the score is another one.

    Between two bounds it is taken to go as (x - low) (high - x), as that of a proportion.
    """
    least, greatest = value_range(evidence)
    if not math.isfinite(least + greatest) or not least < evidence.estimate < greatest:
        return 1.0, 1.0
    middle = (least + greatest) / 2
    nearest = min(max(middle, shown.low), shown.high)
    here, *others = (
        (x - least) * (greatest - x) for x in (evidence.estimate, shown.low, shown.high, nearest)
    )
    by_score = [other / here for other in others]
    # A limit at the bound itself has no variance: at a hundredth of it the range is wide enough.
    return min(1.0, max(min(by_score), 0.01)), max(1.0, *by_score)


def _notes_of(spread: Spread, unit: str, n_runs: int | None) -> tuple[str, ...]:
    """Return what must be known of a pilot."""
    notes = []
    if spread.n_units < FEW:
        notes.append(_caution_of_few(spread.n_units, unit))
    if n_runs is not None and n_runs < FEW and spread.runs + spread.fixed + spread.both > 0:
        what = "training sample" if spread.of_one_list else "run"
        notes.append(_caution_of_few(n_runs, what))
    if spread.n_strata > 1:
        notes.append("The strata keep their shares of the units.")
    if spread.fixed > 0:
        notes.append(
            "The variance between training samples stays, since all come from one training set: "
            "only more training sets (varied='independent') would reduce it."
        )
    return tuple(notes)


def _notes_of_pair(
    pair: PairedDifference, facts: ComparisonFacts, spread: Spread
) -> tuple[str, ...]:
    """Return what must be known of a pilot of two systems or methods."""
    notes = []
    if pair.discordant is not None and sum(pair.discordant[:2]) < FEW:
        count = sum(pair.discordant[:2])
        notes.append(
            f"Only {count} rows of the pilot are discordant for {pair.first} and {pair.second} "
            f"(fewer than {FEW}): their share is poorly estimated, and the plan is a guess."
        )
    if not facts.paired:
        notes.append(
            "The systems have test sets of their own: the size is that of the smaller one, and the "
            "others grow with it."
        )
    if pair.simultaneous_interval is not None and pair.p_value_adjusted > pair.p_value:
        notes.append(
            "The size is for this pair alone: simultaneous intervals of several pairs need more."
        )
    n_runs = None if pair.n_runs is None else min(pair.n_runs)
    return (*_notes_of(spread, facts.unit, n_runs), *notes)


def _caution_of_few(n: int, unit: str) -> str:
    return (
        f"The pilot has only {n} {unit}{'' if n == 1 else 's'} (fewer than {FEW}): its spread is "
        "poorly estimated, and the size is a guess. Plan again with a larger pilot."
    )
