"""`plan_evaluation`: how many test rows, groups or runs an evaluation needs.

A pilot's error, with the error of that, says what evaluations of other sizes would reach; the size
that is enough is the smallest of them. What would not narrow as planning takes for granted is
refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._base.checks import check_confidence_level, check_count, counted, fail
from ._base.doors import door
from ._base.errors import collected
from .inference.evidence import Evidence
from .inference.intervals import value_range
from .inference.planning import (
    AreasSpread,
    DiscordantSpread,
    ShareSpread,
    Spread,
    smallest,
    variance_factors,
)
from .inference.proportions import SHARE_LIMITS
from .inference.tables import beta_limits
from .resampling.design import DESIGNS
from .results import EvaluationResult
from .results.comparison import (
    ComparisonResult,
    PairedDifference,
    check_below_range,
    one_sided,
    unknown_direction,
)
from .results.plan import EvaluationPlan, PlanRow
from .results.result import Provenance

if TYPE_CHECKING:
    from .inference.evidence import ConfidenceInterval
    from .results.comparison import ComparisonFacts

AnySpread: TypeAlias = Spread | ShareSpread | DiscordantSpread | AreasSpread
Extremes: TypeAlias = Callable[[int, int | None], tuple[AnySpread, AnySpread]]

# Units, groups or runs below which a pilot's own spread is little more than a guess.
FEW = 10
# Intervals whose width uses normal quantiles; the others widen as Student's t does.
_OF_NORMAL_WIDTH = {"percentile", "basic", "normal", "bca", "delong"}
# What tables and pictures show: runs, sizes beside the one that is enough, lines and their points.
_RUNS_SHOWN = (2, 3, 5, 10, 20, 50, 100)
_SIZES_SHOWN = (0.25, 0.5, 1, 2, 4)
_LINES_DRAWN = 4
_POINTS_DRAWN = 60


@dataclass(frozen=True)
class PilotFacts:
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
        Confidence level of the plan.
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

    def with_rows(self, n_rows: int | None) -> PilotFacts:
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


@dataclass(frozen=True)
class PlanCall:
    """Checked arguments of `plan_evaluation`; ``target`` is one of half_width, difference, margin.

    The power is None for a half-width, ``n_runs`` where it was not asked for.
    """

    pilot_facts: PilotFacts
    target: str
    target_value: float
    power: float | None
    n_runs: int | None

    def value(self, spread: AnySpread, n_units: float, n_runs: int | None) -> float:
        """Half-width, or power, of another size."""
        level = self.pilot_facts.confidence_level
        if isinstance(spread, ShareSpread) or (
            self.power is None and not isinstance(spread, DiscordantSpread | AreasSpread)
        ):
            return spread.half_width(level, n_units, n_runs)
        one_sided = self.pilot_facts.one_sided
        return spread.power(self.target_value, level, n_units, n_runs, one_sided=one_sided)

    def needed(self, spread: AnySpread, n_runs: int | None) -> int | None:
        """Fewest units that reach the target; None where no number does."""

        def is_enough(n_units: int) -> bool:
            value = self.value(spread, n_units, n_runs)
            if self.power is None:
                return value <= self.target_value * (1 + 1e-12)
            return value >= self.power

        return smallest(is_enough, self.pilot_facts.least_units)


@door("plan_evaluation")
def plan_evaluation(
    pilot: EvaluationResult | PairedDifference | ComparisonResult | None = None,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    margin: float | None = None,
    power: float = 0.8,
    confidence_level: float | None = None,
    proportion: float | None = None,
    n_runs: int | None = None,
) -> EvaluationPlan:
    """Say how many test rows, groups and runs an evaluation needs.

    Give exactly one target: ``half_width``, ``difference`` or ``margin``.

    Parameters
    ----------
    pilot : EvaluationResult, PairedDifference or ComparisonResult, optional
        A small evaluation of the same kind. For a half-width: a result of `skboot.bootstrap_score`,
        `skboot.bootstrap_runs` or a method with a test set. For a difference or a margin: one of
        the ``pairs`` of a comparison, or the comparison of two. Without a pilot give
        ``proportion``.
    half_width : float, optional
        Desired half of the width of the interval, in units of the metric.
    difference : float, optional
        True difference to be found significant: the interval of the pair by itself excludes 0.
    margin : float, optional
        Non-inferiority margin that ``pair.verdict(margin)`` is to pass if both are equal.
    power : float, optional
        Probability that the difference is significant, or the margin passes, in (0, 1).
    confidence_level : float, optional
        Confidence level of the interval; the pilot's when None, 0.95 without a pilot.
    proportion : float, optional
        Expected proportion, such as an accuracy, in [0, 1]: the plan is for Wilson's interval of
        independent rows.
    n_runs : int, optional
        Number of runs (of each method where there are two) for a pilot that has several. None: the
        pilot's own, or more where no number of test units reaches the target with these.

    Returns
    -------
    EvaluationPlan
        ``n_units`` of ``unit`` and ``n_runs``, a ``table`` of other sizes, and the range of sizes
        by the error of the pilot.

    Raises
    ------
    ValueError
        If not exactly one target is given, it does not suit the pilot or is out of reach; if the
        pilot has crossed groups, no test set, or an estimand other than "system" and "method".

    See Also
    --------
    bootstrap_score : Makes pilots of one system.
    compare_systems : Makes pairs of systems.
    bootstrap_runs : Makes pilots of several runs.

    Notes
    -----
    Units are those of the pilot, and strata keep their shares. With n units and standard error
    s in the pilot, n' units have s sqrt(n / n'), and the quantile is that of Student's t at n'.
    The interval of a proportion is solved exactly. With m units and S runs in the pilot,
    ``Var(m', S') = training + seed / S' + (test + interaction / S') m / m'``, by the components
    of the pilot, with Satterthwaite's degrees of freedom at that size. For two methods the part
    of the test units is assumed not to shrink with more runs, so the plan is rather too large
    for another ``n_runs``. The power is that of the normal distribution, or of the noncentral t
    under 20 degrees of freedom. The range scales the pilot's variance by the limits of its
    chi-square distribution at the same level; where a score has two bounds, also by how the
    variance of a proportion would change within the pilot's interval at that level. For a
    proportion it comes from Wilson's limits. With heavy tails variances are less certain than
    that, unless the pilot knows how many rows decide the difference: then these limit the
    degrees of freedom, in proportion to the units. A margin for right and wrong on independent
    rows is planned by Tango's interval, one for areas under ROC curves by logit-delong, like
    verdicts.

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.

    Examples
    --------
    >>> from skboot import plan_evaluation
    >>> plan_evaluation(proportion=0.9, half_width=0.02).n_units
    868
    """
    targets = {"half_width": half_width, "difference": difference, "margin": margin}
    target, value = _checked_target(targets)
    power = _checked_share("power", power, "For 80% use power=0.8.")
    if confidence_level is not None:
        confidence_level = check_confidence_level(confidence_level)
    pilot_facts = _checked_pilot_facts(pilot, proportion, target, value, confidence_level)
    if target == "half_width" and proportion is not None and value >= 0.5:
        must, got = "be below 0.5 for a proportion", repr(half_width)
        raise fail("half_width", must, got, "For two points of accuracy use 0.02.")
    if n_runs is not None:
        count = check_count("n_runs", n_runs, pilot_facts.least_runs)
        if pilot_facts.n_runs is None:
            advice = "Runs come from bootstrap_runs, compare_runs, or methods with a test set."
            raise fail("n_runs", "be None for a pilot without runs", repr(n_runs), advice)
        if not pilot_facts.runs_matter and count != pilot_facts.n_runs:
            advice = "With this pilot, more runs would not narrow the interval."
            raise fail("n_runs", "be None for this pilot", repr(n_runs), advice)
        n_runs = count
    chance = None if target == "half_width" else power
    settings = {
        target: value,
        "power": chance,
        "confidence_level": pilot_facts.confidence_level,
        "proportion": proportion,
        "n_runs": n_runs,
    }
    return _plan_of(PlanCall(pilot_facts, target, value, chance, n_runs), settings)


# ------------------------------------------------------------------ arguments


def _checked_target(targets: dict[str, Any]) -> tuple[str, float]:
    """Return the name and the value of the one target."""
    chosen = {name: value for name, value in targets.items() if value is not None}
    if len(chosen) != 1:
        got = " and ".join(f"{name}={value!r}" for name, value in chosen.items()) or "none"
        must = "be the one target, or difference=, or margin="
        raise fail("half_width", must, got, "Give exactly one of the three.")
    [(name, value)] = chosen.items()
    number = _number(value)
    if not 0 < number < math.inf:
        advice = "It is a size in units of the metric, without a sign."
        raise fail(name, "be a finite number above 0", repr(value), advice)
    return name, number


def _checked_share(name: str, value: Any, advice: str, *, ends: bool = False) -> float:
    """Return a number between 0 and 1."""
    number = _number(value)
    if 0 < number < 1 or (ends and number in (0, 1)):
        return number
    range_ = "[0, 1]" if ends else "(0, 1)"
    raise fail(name, f"be a number in {range_}", repr(value), advice)


def _number(value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return float(value) if is_number else math.nan


def _checked_pilot_facts(
    pilot: Any, proportion: Any, target: str, value: float, confidence_level: float | None
) -> PilotFacts:
    """Return the pilot that sizes are planned by: of a result, or of a proportion."""
    if (pilot is None) == (proportion is None):
        got = "neither" if pilot is None else "both"
        must = "be given, or proportion= instead of it"
        raise fail("pilot", must, got, "A published accuracy is proportion=0.9.")
    if pilot is None:
        share = _checked_share("proportion", proportion, "For 90% use 0.9.", ends=True)
        if target != "half_width":
            advice = "A difference depends on how often two systems disagree: give a pair as pilot."
            raise fail(target, "have a pilot", "proportion=", advice)
        spread = ShareSpread(share, SHARE_LIMITS["wilson"])
        metric = f"a proportion of {share:g}"
        return PilotFacts(spread, None, "row", metric, confidence_level or 0.95)
    if isinstance(pilot, ComparisonResult):
        if len(pilot.pairs) > 1:
            first, second = pilot.pairs[0].first, pilot.pairs[0].second
            advice = f"Give one of its pairs: pilot.pair({first!r}, {second!r})."
            raise fail("pilot", "have one pair", f"a comparison of {len(pilot.systems)}", advice)
        [pilot] = pilot.pairs
    if isinstance(pilot, EvaluationResult):
        if target != "half_width":
            advice = "Compare two systems, and give one of the pairs of the comparison."
            raise fail("pilot", f"be a pair for {target}=", "an EvaluationResult", advice)
        return _facts_of_result(pilot, confidence_level).with_rows(pilot.n_samples)
    if isinstance(pilot, PairedDifference):
        if target == "half_width":
            advice = "Give difference= or margin=, or the result of one system."
            must = "be an EvaluationResult for half_width="
            raise fail("pilot", must, "a pair", advice)
        pair_facts = _facts_of_pair(pilot, target, value, confidence_level)
        return pair_facts.with_rows(pilot._comparison.n_samples if pilot._comparison else None)
    advice = "Of a table give one of its results."
    must = "be an EvaluationResult or a pair of a comparison"
    raise fail("pilot", must, type(pilot).__name__, advice)


# ------------------------------------------------------------------ pilots


def _facts_of_result(result: EvaluationResult, confidence_level: float | None) -> PilotFacts:
    """Return what the result of a system, or of the runs of a method, says of other sizes."""
    if result.estimand not in ("system", "method"):
        must = "be for the estimand 'system' or 'method'"
        advice = "A prediction or a spread of runs does not narrow with more data."
        raise fail("pilot", must, repr(result.estimand), advice)
    design = result._evidence.drawn.design
    if design.n_factors > 1 or design.same_population:
        raise _crossed(result.unit)
    if result._basis.is_gap:
        got = "the largest disparity between subgroups"
        raise fail("pilot", "be the score of one system", got)
    if result.estimand == "method" and not hasattr(result._basis, "run_evidence"):
        raise _no_test_set("a method")
    if result.confidence_interval.method == "t" and result.estimand == "method":
        raise _held_fixed("t")
    if not all(map(math.isfinite, (result.estimate, *result.confidence_interval))):
        raise fail("pilot", "have an interval", "a result without limits")
    level = confidence_level or result.confidence_interval.confidence_level
    if result.estimand == "system":
        return _facts_of_system(result, level)
    runs = result._basis.run_evidence  # type: ignore[attr-defined]
    variances, of_one_list = runs.method.parts, runs.varied in ("training", "both")
    n_trained = len(runs.scores)
    if of_one_list and result.runs is not None:
        n_trained = len({int(sample) for sample in result.runs["training"] if sample >= 0})
    # The squared standard error of the method by what lessens it.
    spread = Spread(
        n_units=runs.n_test_units,
        units=variances.test,
        both=variances.interaction,
        runs=variances.seed + (0.0 if of_one_list else variances.training),
        fixed=variances.training if of_one_list else 0.0,
        n_runs=len(runs.full_scores) if of_one_list else len(runs.scores),
        n_strata=runs.system.drawn.n_strata,
        df_runs=n_trained - 1,
        of_one_list=of_one_list,
    ).with_degrees_of_freedom(runs.method.degrees_of_freedom)
    n_lists = round(spread.df_runs) + 1
    n_runs = n_lists if not spread.of_one_list else len(runs.full_scores)
    return PilotFacts(
        _varying(spread),
        _extremes(spread, level),
        result.unit,
        result.metric,
        level,
        spread.n_units,
        n_runs,
        notes=_notes_of(spread, result.unit, n_lists),
    )


def _facts_of_pair(
    pair: PairedDifference, target: str, value: float, confidence_level: float | None
) -> PilotFacts:
    """Return what a pair of systems, or of methods on a test set, says of other sizes."""
    facts = pair._comparison
    if facts is None:
        raise fail("pilot", "be a pair of a ComparisonResult", "a pair without its comparison")
    crossed = [
        words.unit for words in DESIGNS.values() if words.n_factors > 1 or words.same_population
    ]
    if facts.unit in crossed or not isinstance(facts.n_units, int):
        raise _crossed(facts.unit)
    if facts.estimand == "method" and pair.components is None:
        raise _no_test_set("a pair of methods")
    if pair.confidence_interval.method == "welch":
        raise _held_fixed("welch")
    if np.isnan(pair.confidence_interval).any():
        raise fail("pilot", "have an interval", "a pair without limits")
    if target == "margin":
        if pair.alternative != "two-sided":
            raise one_sided("a margin", pair.alternative)
        if facts.greater_is_better is None:
            raise unknown_direction("margin")
    check_below_range(target, value, facts.metric, facts.bounds)
    level = confidence_level or pair.confidence_interval.confidence_level
    spread = _varying(_spread_of_pair(pair, facts))
    pair_spread: AnySpread = spread
    extremes = _extremes(spread, level)
    if pair._discordant is not None:
        # The variance goes as the share of rows on which the systems differ. Verdicts with a margin
        # are by Tango's interval, whatever interval is shown.
        differ, n = sum(pair._discordant[:2]), pair._discordant[2]
        shares = SHARE_LIMITS["wilson"](differ, n, level)
        if target == "margin":
            pair_spread = DiscordantSpread(differ / n)
            extremes = _same_for_all_sizes(*map(DiscordantSpread, shares))
        else:
            extremes = _same_for_all_sizes(*(spread.scaled(share * n / differ) for share in shares))
    areas = pair._areas
    if areas is not None and target == "margin":
        # Verdicts with a margin are made by the closed interval of the areas.
        pair_spread = AreasSpread(areas, spread.n_units)

        def of_size(n_units: int, n_runs: int | None) -> tuple[AreasSpread, AreasSpread]:
            factors = variance_factors(spread.known_with(n_units, n_runs), level)
            least, largest = (areas.on_rows(1.0, factor) for factor in factors)
            return AreasSpread(least, spread.n_units), AreasSpread(largest, spread.n_units)

        extremes = of_size
    return PilotFacts(
        pair_spread,
        extremes,
        facts.unit,
        facts.metric,
        level,
        spread.n_units,
        None if spread.n_runs is None else math.ceil(spread.n_runs),
        pair.alternative != "two-sided",
        _notes_of_pair(pair, facts, spread),
    )


# ------------------------------------------------------------------ what is no pilot


def _crossed(unit: str) -> ValueError:
    got = f"one whose unit is a {unit}"
    advice = "With two crossed factors a pilot does not show which of them needs more members."
    return fail("pilot", "have rows or groups as units", got, advice)


def _no_test_set(noun: str) -> ValueError:
    advice = (
        "Without one, more rows also improve the training, and one size does not show by how "
        "much. Give X_test and y_test, or use bootstrap_runs or compare_runs."
    )
    return fail("pilot", "stand on a test set", f"{noun} scored on rows left out", advice)


def _held_fixed(interval: str) -> ValueError:
    got = f"the interval {interval!r}, which holds the test rows fixed"
    return fail("pilot", "have an interval over test rows", got, "Use interval='components'.")


# ------------------------------------------------------------------ spreads


def _facts_of_system(result: EvaluationResult, level: float) -> PilotFacts:
    """Return what the score of one system says."""
    evidence, shown = result._evidence, result.confidence_interval
    n, share = evidence.drawn.n_units[0], evidence.share
    limits = {**SHARE_LIMITS, "beta": beta_limits}.get(shown.method)
    if share is not None and limits is not None:
        return _facts_of_counts(result, share.hits, n, ShareSpread(share.hits / n, limits), level)
    draws, k = evidence.drawn, evidence.drawn.n_strata
    student = shown.method not in _OF_NORMAL_WIDTH
    factor = n / max(n - k, 1) * draws.unequal if student else 1.0
    variance, worth = factor * result.standard_error**2, draws.n_equal / n
    spread = _varying(Spread(n, variance, n_strata=k, student=student, worth=worth))
    if level != shown.confidence_level:
        method: Any = shown.method
        # That resamples are too few for a level is of no matter for a range of sizes.
        with collected():
            shown = result.interval(method, level)
    share_of_bounds = _factors_of_bounds(evidence, shown)
    return PilotFacts(
        spread,
        _extremes(spread, level, share_of_bounds),
        result.unit,
        result.metric,
        level,
        n,
        notes=_notes_of(spread, result.unit, None),
    )


def _facts_of_counts(
    result: EvaluationResult, hits: int, n: int, spread: ShareSpread, level: float
) -> PilotFacts:
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
    extremes = _same_for_all_sizes(*ends)
    return PilotFacts(spread, extremes, "row", result.metric, level, n, notes=tuple(notes))


def _spread_of_pair(pair: PairedDifference, facts: ComparisonFacts) -> Spread:
    """Return the squared standard error of a difference by what lessens it."""
    df, n_units = pair.degrees_of_freedom, int(facts.n_units)  # type: ignore[arg-type]
    if pair.components is None or pair.n_runs is None:
        student = pair.confidence_interval.method not in _OF_NORMAL_WIDTH
        # Few units that move a difference have fewer degrees of freedom than all of them.
        n_strata = 1 if df is None else facts.drawn.n_strata
        n_equal = facts.drawn.n_equal if df is None else df + n_strata
        factor = n_units / max(n_units - n_strata, 1) * facts.drawn.unequal if student else 1.0
        variance, worth = factor * pair.standard_error**2, n_equal / n_units
        freedom = math.inf if pair._error_freedom is None else pair._error_freedom
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


def _varying(spread: Spread) -> Spread:
    """Return a spread that is not 0; refuse one that is."""
    if spread.variance(spread.n_units) > 0:
        return spread
    advice = "A plan needs a pilot with errors; for a proportion, give proportion= instead."
    raise fail("pilot", "vary", "one in which neither units nor runs vary", advice)


def _extremes(spread: Spread, level: float, further: tuple[float, float] = (1.0, 1.0)) -> Extremes:
    """Return from a planned size the least and the largest spread that the pilot allows.

    ``further`` are factors for another source of error of the variance; as errors that are
    independent do, both add up by their squares, on the scale of logarithms.
    """

    def of_size(n_units: int, n_runs: int | None) -> tuple[Spread, Spread]:
        factors = variance_factors(spread.known_with(n_units, n_runs), level)
        low, high = (
            math.hypot(math.log(factor), math.log(further_factor))
            for factor, further_factor in zip(factors, further, strict=True)
        )
        return spread.scaled(math.exp(-low)), spread.scaled(math.exp(high))

    return of_size


def _same_for_all_sizes(least: AnySpread, largest: AnySpread) -> Extremes:
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
    here, *variances = (
        (x - least) * (greatest - x) for x in (evidence.estimate, shown.low, shown.high, nearest)
    )
    by_score = [variance / here for variance in variances]
    # A limit at the bound itself has no variance: at a hundredth of it the range is wide enough.
    return min(1.0, max(min(by_score), 0.01)), max(1.0, *by_score)


def _notes_of(spread: Spread, unit: str, n_runs: int | None) -> tuple[str, ...]:
    """Return notes on a pilot, for readers of the plan."""
    notes = []
    if spread.n_units < FEW:
        notes.append(_caution_of_few(spread.n_units, unit))
    if n_runs is not None and n_runs < FEW and spread.runs + spread.fixed + spread.both > 0:
        noun = "training sample" if spread.of_one_list else "run"
        notes.append(_caution_of_few(n_runs, noun))
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
    """Return notes on a pilot of two systems or methods, for readers of the plan."""
    notes = []
    if pair._discordant is not None and sum(pair._discordant[:2]) < FEW:
        count = sum(pair._discordant[:2])
        notes.append(
            f"The pilot has only {counted(count, 'discordant row')} for {pair.first} and "
            f"{pair.second} (fewer than {FEW}): their share is poorly estimated, and the plan is a "
            "guess."
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


# ------------------------------------------------------------------ sizes


def _plan_of(call: PlanCall, settings: dict[str, Any]) -> EvaluationPlan:
    """Find the size that reaches the target, and sizes beside it.

    Raises
    ------
    ValueError
        If no size does.
    """
    pilot_facts = call.pilot_facts
    n_runs, n_units = _size(call)
    bounds = None
    if pilot_facts.extremes is not None:
        extremes = pilot_facts.extremes(n_units, n_runs)
        ends = [call.needed(extreme, n_runs) for extreme in extremes]
        low, high = (math.inf if end is None else float(end) for end in ends)
        bounds = low, high
    notes = pilot_facts.notes
    if n_units < FEW:
        plural = pilot_facts.unit if n_units == 1 else f"{pilot_facts.unit}s"
        notes += (
            f"{n_units} {plural} are fewer than {FEW}: intervals from so few cover less often "
            "than stated, whatever their width.",
        )
    return EvaluationPlan(
        n_units=n_units,
        unit=pilot_facts.unit,
        n_runs=n_runs,
        table=_table(call, n_units, n_runs),
        target=call.target,
        target_value=call.target_value,
        power=call.power,
        confidence_level=pilot_facts.confidence_level,
        value=call.value(pilot_facts.spread, n_units, n_runs),
        n_units_range=bounds,
        pilot_n_units=pilot_facts.n_units,
        pilot_n_runs=pilot_facts.n_runs,
        metric=pilot_facts.metric,
        _rows_per_unit=pilot_facts.rows_per_unit,
        _curves=_curves(call, n_units, n_runs),
        _provenance=Provenance(notes, settings=settings),
    )


def _size(call: PlanCall) -> tuple[int | None, int]:
    """Return runs and units: with the pilot's number of runs, or more where these cannot do."""
    pilot_facts = call.pilot_facts
    runs: list[int | None] = [call.n_runs or pilot_facts.n_runs]
    if call.n_runs is None and pilot_facts.n_runs is not None and pilot_facts.runs_matter:
        runs += [n for n in _RUNS_SHOWN if n > pilot_facts.n_runs]
    for n_runs in runs:
        n_units = call.needed(pilot_facts.spread, n_runs)
        if n_units is not None:
            return n_runs, n_units
    best = _best(call, runs[-1])
    noun = "half-width" if call.power is None else "power"
    must = "be within reach of more test units"
    at_best = f"{best:.3g} at best, with {counted(runs[-1] or 1, 'run')}"
    got = f"{call.target_value:g}; the {noun} comes to {at_best}"
    spread = pilot_facts.spread
    if isinstance(spread, Spread) and spread.fixed > 0:
        advice = "Only more training sets would reduce the variance between training samples."
    else:
        advice = "Use more runs (n_runs=), or an easier target."
    raise fail(call.target, must, got, advice)


def _best(call: PlanCall, n_runs: int | None) -> float:
    """Return the smallest half-width, or the largest power, that any number of units reaches.

    More units need not narrow the interval: where few runs are all that is left to vary, their few
    degrees of freedom widen it.
    """
    sizes = [call.pilot_facts.least_units * 2.0**k for k in range(40)] + [math.inf]
    values = [call.value(call.pilot_facts.spread, size, n_runs) for size in sizes]
    return min(values) if call.power is None else max(values)


def _runs_beside(call: PlanCall, n_runs: int | None) -> list[int | None]:
    """Return numbers of runs that a table shows."""
    pilot_facts = call.pilot_facts
    if not pilot_facts.runs_matter or n_runs is None:
        return [n_runs]
    most = 5 * max(n_runs, pilot_facts.n_runs or 1)
    shown = {n for n in _RUNS_SHOWN if pilot_facts.least_runs <= n <= most}
    return [*sorted({*shown, n_runs, pilot_facts.n_runs or n_runs})]


def _table(call: PlanCall, n_units: int, n_runs: int | None) -> tuple[PlanRow, ...]:
    """Return for each number of runs how many units do; without runs, what other sizes reach."""
    spread, pilot_facts = call.pilot_facts.spread, call.pilot_facts
    if pilot_facts.runs_matter:
        rows = []
        for runs in _runs_beside(call, n_runs):
            needed = call.needed(spread, runs)
            value = _best(call, runs) if needed is None else call.value(spread, needed, runs)
            rows.append(PlanRow(runs, needed, value))
        return tuple(rows)
    sizes = {max(round(share * n_units), pilot_facts.least_units) for share in _SIZES_SHOWN}
    sizes.add(pilot_facts.n_units or n_units)
    return tuple(PlanRow(n_runs, size, call.value(spread, size, n_runs)) for size in sorted(sizes))


def _curves(
    call: PlanCall, n_units: int, n_runs: int | None
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return what a picture shows: by number of runs, sizes and what they reach."""
    spread, least_units = call.pilot_facts.spread, call.pilot_facts.least_units
    beside = _runs_beside(call, n_runs)
    at = beside.index(n_runs)
    start = max(0, min(at - 1, len(beside) - _LINES_DRAWN))
    fewest, most = max(n_units / 16, least_units), max(8.0 * n_units, 2.0 * least_units)
    sizes = [fewest * (most / fewest) ** (k / (_POINTS_DRAWN - 1)) for k in range(_POINTS_DRAWN)]
    return {
        "" if runs is None else str(runs): tuple(
            (size, call.value(spread, size, runs)) for size in sizes
        )
        for runs in beside[start : start + _LINES_DRAWN]
    }
