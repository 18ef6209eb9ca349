"""The choice of ``interval="auto"``: the best-measured method for the case, with its guards.

| case | method | guard |
|---|---|---|
| 0/1 values of independent rows | Wilson | |
| precision, recall, F1, Jaccard | BCa | Wilson with fewer than ten hits or errors |
| area under the ROC curve | BCa | perfect: Wilson on the smaller class |
| mean of continuous values | studentized | a warning where one row carries much of the sum |
| the same, of values of both signs | skewed-t | the same |
| other metrics of rows | BCa | percentile where a jackknife value is undefined; |
| | | expanded for medians and other metrics that answer in jumps |
| the same, biased by half a standard error, or | jackknife | a warning where |
| on resamples alone by a quarter | | single rows decide much |
| strata of few rows, other metrics | expanded | |
| groups, functions of sums | studentized | few groups carry the variation: score interval |
| groups, other metrics | expanded | |
| the same on fewer than ten groups | logit-t | t where the metric has no two ends |
| blocks of rows in time, functions of sums | as for groups | as for groups |
| the same, areas under the ROC curve | ewc | as for groups |
| the same, other metrics | expanded | |
| crossed, 40 members or more a side, sums and AUC | two-way | |
| crossed, others | percentile | |
| one population, sums and AUC | two-way | |
| one population, other metrics | expanded | |
| a sum of distances over bins | bins | |
| the best over thresholds | bias-corrected | a warning |
| few human labels and a judge's | logit-t | skewed-t where the metric has no two ends, |
| | | t where it is no function of sums |
| average over fixed tasks | expanded | biased by .1 standard errors: bias-corrected; |
| | | few rows decide a mean of 0 and 1: smoothed |
| average over drawn tasks | t | |

Each rule adds notes for the reader of a summary; notes that are warnings come first. `cautions_of`
says on which data no interval does well: few groups or members, and few units that decide a score
(`few_deciding`), such as a small class or a heavy tail.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._base.errors import Note, collected, say, tell, thousands
from ._tuning import (
    BIAS_APART,
    BIAS_OVER_TASKS,
    FAR_ERROR,
    FEW_BLOCKS,
    FEW_CARRIERS,
    FEW_CARRY,
    FEW_EQUAL_GROUPS,
    FEW_EVENTS,
    FEW_GROUPS,
    FEW_IN_CLASS,
    FEW_IN_TABLE,
    FEW_MEMBERS,
    FEW_MISRANKED,
    FEW_OF_CLASS,
    FEW_ROWS,
    FEW_VALUES,
    INFLATED,
    LARGE_BIAS,
    LARGE_SKEWNESS,
    MANY_MEMBERS,
    MEASURED_WITH,
    MOST_CARRY,
    NEAR_ERROR,
    SINGLE_ROWS,
    SMALL_CLASS,
    SURE_BIAS,
    SURELY_SINGLE,
    UNITS_CARRY,
)
from .evidence import ConfidenceInterval, DrawnUnits, Evidence, Premises, notes_of_cut, within_range
from .intervals import (
    LEAVING_OUT,
    ROUNDING,
    WITHOUT_RESAMPLES,
    Floats,
    confidence_interval,
    effective_size,
    few_groups_interval,
    value_range,
    variation,
    wilson_on_range,
)

_NO_VALUE = "The metric is undefined on these data."
TOO_FEW = "fewer than two resamples gave a value"
NO_LIMITS = f"The limits are undefined: {TOO_FEW}."
# The numbers are those of `benchmarks/coverage/studies/biased_scores.py`.
_OF_DISTANCES = (
    "This metric sums distances and is biased upwards, more so on resamples: 95% intervals of "
    "differences, averages and runs covered 0 to 92%. Compare by log loss or Brier score."
)


class IntervalWithNotes(NamedTuple):
    """An interval with the notes that a summary shows beside it.

    Attributes
    ----------
    interval : ConfidenceInterval
        The interval.
    notes : tuple of Note
        Sentences for the summary; their kinds say which of them are warnings too.
    """

    interval: ConfidenceInterval
    notes: tuple[Note, ...] = ()

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Notes that are warnings."""
        return tuple(note for note in self.notes if note.is_warning)


def automatic_interval(evidence: Evidence, confidence_level: float = 0.95) -> IntervalWithNotes:
    """Choose the best-measured interval for the evidence and make it.

    Parameters
    ----------
    evidence : Evidence
        Evidence of the score.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    IntervalWithNotes
        The limits are cut at the metric's bounds.
    """
    facts, units = evidence.facts, evidence.drawn
    if np.isnan(evidence.estimate):
        return IntervalWithNotes(
            _undefined_interval(confidence_level), (Note("degenerate", _NO_VALUE),)
        )
    if not units.varies:
        return IntervalWithNotes(
            _undefined_interval(confidence_level), (Note("few", units.why_none),)
        )
    with collected() as all_notes:
        tell(*cautions_of(evidence))
        if facts.bins is not None or facts.optimized or facts.proxy_weight is not None:
            interval = _made(evidence, planned_method(evidence), confidence_level)
        elif evidence.smoothed is not None:
            say(
                "choice",
                "Few rows decide the score: limits of smoothed tables are used, since resamples "
                "show no more than these rows.",
            )
            interval = _made(evidence, "smoothed", confidence_level)
        elif units.design.averages_tasks:
            method = planned_method(evidence)
            if method == "expanded":
                # The bias of a metric within small tasks does not average out over the tasks, and
                # resamples have it twice. A bias below three Monte Carlo errors may be chance.
                chance = 3 / np.sqrt(max(len(evidence.sorted_replicates), 1))
                method = _method_by_bias(method, evidence, max(BIAS_OVER_TASKS, chance))
            interval = _made(evidence, method, confidence_level)
        elif units.design.units_are_rows:
            interval = _rows_interval(evidence, confidence_level)
        elif units.design.n_factors > 1:
            enough = units.design.same_population or min(units.n_units) >= MANY_MEMBERS
            is_two_way = evidence.robust_variance is not None and enough
            method = "two-way" if is_two_way else planned_method(evidence)
            interval = _made(evidence, method, confidence_level)
        else:
            interval = _groups_interval(evidence, confidence_level)
        interval = within_range(interval, facts.bounds)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in all_notes if note.kind == "resamples"))
    notes = [note for note in all_notes if note.kind != "resamples"]
    if interval.method == "score" and np.isnan(interval.low + interval.high):
        # Without a limit there is no coverage to lose: what says why stands for all cautions.
        del notes[:-1]
    # Warnings come first, in the order in which they were found.
    ordered = sorted((*notes, *notes_of_cut(interval)), key=lambda note: not note.is_warning)
    return IntervalWithNotes(interval, tuple(ordered))


def planned_method(premises: Premises) -> str:
    """Method that "auto" will try first, which needs no replicates to be chosen.

    Parameters
    ----------
    premises : Premises

    Returns
    -------
    str
        A key of `skboot.inference.intervals.INTERVALS`.
    """
    units, facts = premises.drawn, premises.facts
    design = units.design
    if facts.bins is not None:
        return "bins"
    if facts.optimized:
        # It is too low, and lower once more on resamples.
        return "bias-corrected"
    if facts.proxy_weight is not None:
        skewed = "skewed-t" if facts.additive else "t"
        return "logit-t" if np.isfinite(facts.bounds).all() else skewed
    # Where few rows of each stratum were drawn BCa gives way to expanded percentiles.
    bca = "expanded" if units.n_strata > 1 and units.inflation > INFLATED else "bca"
    if design.units_are_rows and (share := facts.proportion) is not None:
        # Wilson's interval is for 0/1 values, and for ratios of few hits or errors.
        # A row is added to hits and to errors, as to the cells of a table.
        if premises.share is not None and share.with_one_of_each.n_deciding < FEW_IN_TABLE:
            return "beta"
        wilson = share.exact or min(share.hits, share.n - share.hits) < FEW_EVENTS
        if wilson and premises.independent_rows:
            return "wilson"
        if not design.no_jackknife:
            return bca
    method = design.automatic_interval(row_mean=facts.row_mean, additive=facts.additive)
    method = bca if method == "bca" else method
    if method == "expanded":
        method = _quantile_method(premises)
    if method == "studentized" and design.units_are_rows and facts.both_signs:
        # Losses have one sign and are skewed; of values of both the skewness of few is noise.
        return "skewed-t"
    return method


def _quantile_method(premises: Premises) -> str:
    """Return "expanded", or Student's t where few units were drawn."""
    if not premises.drawn.are_few:
        return "expanded"
    # Quantiles of resamples of few units stay within the range of what these bring.
    return "logit-t" if np.isfinite(premises.facts.bounds).all() else "t"


def _undefined_interval(confidence_level: float) -> ConfidenceInterval:
    """Return an interval with NaN limits."""
    return ConfidenceInterval(np.nan, np.nan, confidence_level, "undefined")


def _made(evidence: Evidence, method: str, confidence_level: float) -> ConfidenceInterval:
    """Return the interval by a method; NaN limits where fewer than two resamples have a value."""
    if method not in WITHOUT_RESAMPLES and len(evidence.sorted_replicates) < 2:
        return _undefined_interval(confidence_level)
    return confidence_interval(evidence, method, confidence_level)


def _rows_interval(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of independent or stratified rows."""
    facts = evidence.facts
    method = planned_method(evidence)
    if method == "wilson" and facts.proportion is not None and not facts.proportion.exact:
        say(
            "choice",
            f"Fewer than {FEW_EVENTS} hits or errors: the Wilson score interval is used, "
            "since bootstrap intervals are too short then.",
        )
    ends = np.array(facts.bounds)
    if method not in WITHOUT_RESAMPLES and np.isfinite(ends).all() and not resamples_vary(evidence):
        away = np.abs(ends - evidence.estimate)
        if away.min() <= ROUNDING * np.ptp(ends):
            # A perfect score has the interval of no error on the rows that decide it.
            of, n_rows = "the smaller class", facts.deciding
            if n_rows is None:
                of, n_rows = "all rows", float(evidence.drawn.n_units[0])
            say(
                "choice",
                f"No row is out of place, and no resample differs: score interval on {of} "
                f"({n_rows:.0f} rows).",
            )
            return wilson_on_range(ends[away.argmin()], facts.bounds, n_rows, confidence_level)
    if method == "bca" and (evidence.acceleration is None or np.isnan(evidence.acceleration)):
        say(
            "choice",
            "The metric is undefined without some of the units, which BCa leaves out: the "
            "percentile interval is used.",
        )
        method = _method_by_bias("percentile", evidence)
    elif method == "bca" and _answers_in_jumps(evidence):
        replicates = evidence.sorted_replicates
        if evidence.estimate in (replicates[0], replicates[-1]) and not _evenly_spaced(replicates):
            say(
                "caution",
                "No resample goes beyond the estimate on one side, as with a largest error: no "
                "bootstrap interval attains its nominal coverage for such a metric.",
            )
        say(
            "choice",
            "The metric changes in jumps with single rows, as a median does, and BCa fails for "
            "such metrics: the expanded percentile interval is used.",
        )
        method = "expanded"
    elif method in ("bca", "expanded"):
        # Percentiles double a bias.
        method = _method_by_bias(method, evidence)
    if method in LEAVING_OUT:
        _tell_of_single_units(evidence)
    return _made(evidence, method, confidence_level)


def _groups_interval(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of groups, or of blocks of rows in time."""
    replicates, low, high = evidence.sorted_replicates, *value_range(evidence)
    if len(replicates) and replicates[0] == replicates[-1]:
        unit, n_units = evidence.drawn.design.unit, evidence.drawn.n_units[0]
        if evidence.estimate in (low, high) and np.isfinite(low) and np.isfinite(high):
            effective = effective_size(evidence, confidence_level)
            say(
                "choice",
                f"No {unit} shows any error, so resampling cannot show any spread: Wilson interval "
                f"with {effective:.1f} effective rows for {thousands(n_units)} {unit}s.",
            )
            return few_groups_interval(evidence, confidence_level)
        # Losses without bounds are taken as not negative.
        low = 0.0 if np.isinf(low) and np.isinf(high) else low
        if evidence.facts.additive and evidence.estimate in (low, high):
            side, limits = "lower", (np.nan, evidence.estimate)
            if evidence.estimate == low:
                side, limits = "upper", (evidence.estimate, np.nan)
            say(
                "caution",
                f"No {unit} shows any loss, and a loss has no largest value: the {side} limit is "
                f"undefined, since nothing in these {thousands(n_units)} {unit}s shows how large "
                "other losses are.",
            )
            return ConfidenceInterval(*limits, confidence_level, "score")
    method = planned_method(evidence)
    if method == "studentized":
        interval = _group_sums_interval(evidence, confidence_level)
        if interval.method != "expanded":
            return interval
        method = "expanded"
    elif evidence.over_time is not None:
        method = "ewc"
    if method == "expanded":
        # Percentiles double a bias. Studentized limits, which sums have, correct it.
        method = _method_by_bias(method, evidence)
        if method in LEAVING_OUT:
            _tell_of_single_units(evidence)
    return _made(evidence, method, confidence_level)


def _group_sums_interval(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the studentized interval, or a score interval where few groups carry the variation."""
    has_errors = evidence.replicate_standard_errors is not None
    method = "studentized" if has_errors else _quantile_method(evidence)
    varies, ends, unit = variation(evidence), value_range(evidence), evidence.drawn.design.unit
    bounded = bool(np.all(np.isfinite(ends)))
    n_groups = evidence.drawn.n_units[0]
    if varies is None:
        # A mean of rows without influence of any group is the same in every group; other metrics
        # need not be.
        is_mean = evidence.group_influence is not None and evidence.facts.largest_share is not None
        if not (is_mean and bounded and n_groups > 1):
            return _made(evidence, method, confidence_level)
        reason = f"Every {unit} has the same score, so resampling cannot show any spread"
    else:
        source = f"of the variation comes from about {max(round(varies.n_carriers), 1)} of the"
        reason = f"Most {source} {thousands(n_groups)} {unit}s, too few for a bootstrap-t interval"
        if varies.n_carriers >= FEW_CARRIERS:
            interval = _made(evidence, method, confidence_level)
            low, high = interval
            if ends[0] < low and high < ends[1]:
                return interval
            name = "bootstrap-t" if has_errors else method
            reached = f"The {name} interval reaches the end of the range"
            reason = f"{reached} (most {source} {thousands(n_groups)} {unit}s)"
    interval = few_groups_interval(evidence, confidence_level)
    if bounded:
        effective = effective_size(evidence, confidence_level)
        say("choice", f"{reason}: Wilson interval with {effective:.1f} effective rows.")
    else:
        say(
            "caution",
            f"{reason}. A score interval (as Wilson's) is used, which covered 90 to 97%, with "
            "very heavy tails 87 to 93%.",
        )
    return interval


# ------------------------------------------------------------------ what single units show


def _method_by_bias(method: str, evidence: Evidence, large: float = LARGE_BIAS) -> str:
    """Return "jackknife" where the bias is large, with a note; else the same method.

    Where nothing is known without single units it is "bias-corrected".
    """
    are_few = min(evidence.drawn.n_units) < FEW_ROWS
    if are_few:
        # So few do not distinguish a bias of single units from their noise.
        evidence = replace(evidence, jackknife_bias=None)
    replicates = evidence.sorted_replicates
    if len(replicates) < 2 or replicates[0] == replicates[-1]:
        return method
    # Both biases in standard errors: what resamples show, and what single units do.
    mean, error = replicates.mean(), evidence.spread
    by_units = by_resamples = float((mean - evidence.estimate) / error)
    if evidence.jackknife_bias is not None:
        by_units = evidence.jackknife_bias.bias / max(error, evidence.jackknife_bias.standard_error)
    largest = max(abs(by_resamples), abs(by_units))
    if largest <= large and abs(by_resamples - by_units) <= BIAS_APART:
        return method
    skewness = float(np.mean(((replicates - mean) / error) ** 3))
    if not (largest > SURE_BIAS and not are_few) and abs(skewness) > LARGE_SKEWNESS:
        return method
    where = "below" if by_resamples < 0 else "above"
    sentence = (
        f"Resamples are on average {abs(by_resamples):.2g} standard errors {where} the estimate"
    )
    if evidence.jackknife_bias is None:
        corrected = 2 * evidence.estimate - mean
        about = f"t interval about the bias-corrected estimate, {corrected:.4g}."
        say("choice", f"{sentence}: {about}")
        return "bias-corrected"
    say(
        "choice",
        f"{sentence}, and its bias is {round(by_units, 6):+.2g} standard errors by the jackknife: "
        f"t interval about the estimate corrected for the jackknife's bias, "
        f"{evidence.estimate - evidence.jackknife_bias.bias:.4g}.",
    )
    return "jackknife"


def _tell_of_single_units(evidence: Evidence) -> None:
    """Add a warning where units that are the only ones of their kind decide a score.

    The standard deviation s of n resamples has the Monte Carlo error s sqrt((k - 1) / (4 n)), with
    k their fourth moment over s^4: 7% of 99 resamples, 1.6% of the 1999 that the threshold is for.
    """
    if evidence.facts.class_sizes is not None or evidence.facts.largest_share is not None:
        # Of an average over classes their rows are counted, and of a mean the largest; see
        # `cautions_of`.
        return
    if evidence.jackknife_bias is None:
        return
    error, spread = evidence.jackknife_bias.standard_error, evidence.spread
    if not error > SINGLE_ROWS * spread > 0:
        return
    replicates = evidence.sorted_replicates
    fourth_moment = np.mean(((replicates - replicates.mean()) / spread) ** 4)
    errors = np.sqrt((fourth_moment - 1) / (4 * np.array([len(replicates), MEASURED_WITH])))
    if not error > SINGLE_ROWS * (1 + SURELY_SINGLE * max(errors[0] - errors[1], 0.0)) * spread:
        return
    say(
        "caution",
        f"Leaving out single {evidence.drawn.design.unit}s gives {error / spread:.2g} times the "
        "standard error of the resamples: those that are the only ones of their kind decide the "
        "score. Expect less coverage than stated.",
    )


def _answers_in_jumps(evidence: Evidence) -> bool:
    """Return whether single units move the metric as they move a quantile: to few values, or far.

    A share of rows takes two values as well, and a ranking of few rows not many more; for these the
    jackknife has the standard error of the resamples. For a median the ratio of the two is random
    and follows a function of the exponential distribution (Efron 1979, section 3).
    """
    if evidence.jackknife_jumps is None:
        return False
    error, n_values, n_left_out = evidence.jackknife_jumps
    if evidence.spread == 0:
        return False
    ratio = error / evidence.spread
    if n_values <= min(max(FEW_VALUES, n_left_out // 4), n_left_out // 2):
        return abs(ratio - 1) > NEAR_ERROR or (
            n_values < 4 and not _evenly_spaced(evidence.sorted_replicates)
        )
    return not 1 / FAR_ERROR < ratio < FAR_ERROR


def _evenly_spaced(ordered: Floats) -> bool:
    """Return whether values are whole multiples of one step apart, as counts of rows are."""
    steps = np.diff(ordered)
    steps = steps[steps > 1e-9 * (ordered[-1] - ordered[0])]
    if len(steps) == 0:
        return True
    multiples = steps / steps.min()
    return bool(np.all(np.abs(multiples - np.round(multiples)) < 1e-3 * multiples))


# ------------------------------------------------------------------ cautions


def cautions_of(evidence: Evidence, *, several_runs: bool = False) -> list[Note]:
    """Warnings about the data that an interval stands on.

    Parameters
    ----------
    evidence : Evidence
        Evidence of the score; of any one run where there are several.
    several_runs : bool
        Whether there are several: a score interval of few groups is of one score.

    Returns
    -------
    list of Note
        Of averages over tasks only that nothing moves them.
    """
    design = evidence.drawn.design
    with collected() as notes:
        if design.averages_tasks:
            tell(*caution_of_distances(evidence))
            has_resamples = evidence.smoothed is None and len(evidence.sorted_replicates) > 1
            if has_resamples and not resamples_vary(evidence):
                text = _none_moves(evidence).format("this score")
                say("few", f"{text}: expect less coverage than stated.")
            return notes
        if evidence.facts.optimized:
            say(
                "caution",
                "The best threshold was chosen on these rows, so the value is optimistic: 95% "
                "intervals, corrected in part, covered 76 to 96%, those of differences 92 to "
                "96%.",
            )
        if design.units_are_rows:
            facts = evidence.facts
            if facts.proportion is not None and np.isinf(facts.bounds).sum() == 1:
                say(
                    "caution",
                    "All errors of these rows are 0 or 1, and the interval assumes that no other "
                    "errors occur.",
                )
            if text := few_deciding(evidence):
                say("few", f"{text.format('this score')}: expect less coverage than stated.")
        elif design.n_factors == 1:
            # A score interval of few groups says itself how many carry the variation.
            is_said = not several_runs and evidence.group_influence is not None
            tell_of_groups(evidence.drawn, "" if is_said else few_deciding(evidence))
        elif (fewest := min(evidence.drawn.n_units)) < FEW_MEMBERS:
            side = "" if design.same_population else " on one side"
            say(
                "few",
                f"Only {fewest} members were resampled{side} (fewer than {FEW_MEMBERS}): "
                "expect less coverage than stated.",
            )
        elif caution := design.coverage_caution(evidence.drawn.n_units):
            say("caution", caution)
    return notes


def caution_of_distances(evidence: Evidence) -> list[Note]:
    """Warning that a sum of distances is biased where its interval is not made of its bins.

    Parameters
    ----------
    evidence : Evidence
        Evidence of the score; of any one run, task or system where there are several.

    Returns
    -------
    list of Note
        Empty for other metrics.
    """
    return [Note("caution", _OF_DISTANCES)] if evidence.facts.of_distances else []


def few_deciding(evidence: Evidence) -> str:
    """Return how few units decide a score, and how many would be enough; "" if there are as many.

    One threshold for each use: rows of a class that an area hangs on, that another score of two
    classes does, or an average over classes; rows that the metric knows to decide; and of all
    others, unless the interval is exact for any number, units that carry the variation.
    """
    facts, unit = evidence.facts, evidence.drawn.design.unit
    n_of_class = facts.of_class
    if evidence.smoothed is not None and (facts.class_sizes is None or len(facts.class_sizes) < 3):
        # Tables that are drawn smoothed hold for any number of rows of two classes (record 0116).
        return ""
    if n_of_class is not None and evidence.drawn.design.units_are_rows:
        uses = (facts.delong, SMALL_CLASS), (facts.smaller_class, FEW_OF_CLASS)
        enough = next((least for count, least in uses if count is not None), FEW_IN_CLASS)
        if n_of_class < enough:
            words = "row of the smaller class decides"
            if n_of_class > 1:
                words = "rows of the smaller class decide"
            rows = f"The {n_of_class:.0f} {words}"
            if facts.class_sizes is not None:
                rows = f"About {min(round(n_of_class), enough - 1)} rows of each class decide"
            return f"{rows} {{}} (fewer than {enough})"
    if facts.proportion is not None and evidence.independent_rows:
        return ""
    number = evidence.n_deciding
    if number is None:
        return ""
    least: float = FEW_CARRIERS
    if number == facts.of_kind or evidence.drawn.design.units_are_rows:
        least = facts.few_of_kind or (FEW_CARRY if facts.delong is None else FEW_MISRANKED)
        if least == FEW_CARRY and not np.isfinite(facts.bounds).all():
            least = min(max(evidence.drawn.n_units[0] / UNITS_CARRY, FEW_CARRY), MOST_CARRY)
    if round(number, 6) >= least:
        return ""
    if number < 0.5:
        return _none_moves(evidence)
    among_units = f"of the {thousands(evidence.drawn.n_units[0])} {unit}s"
    enough = math.ceil(least)
    about = min(round(number), enough - 1)
    decide = "decides" if about == 1 else "decide"
    return f"About {about} {among_units} {decide} {{}} (fewer than {enough})"


def _none_moves(evidence: Evidence) -> str:
    """Say that no unit moves a score; with a field for this."""
    units = f"{thousands(evidence.drawn.n_units[0])} {evidence.drawn.design.unit}s"
    return f"None of the {units} moves {{}}, so that nothing shows how much others would"


def tell_of_groups(units: DrawnUnits, deciding: str = "") -> None:
    """Tell of few groups, of few that count for their size, or of few that decide the score.

    Parameters
    ----------
    units : DrawnUnits
        Groups, or blocks of rows in time.
    deciding : str
        How few of them decide the score; see `few_deciding`.
    """
    unit = units.design.unit
    n_groups, expect = units.n_units[0], "expect less coverage than stated."
    n_equal = n_groups if units.freedom is None else units.freedom[0] + units.n_strata
    if n_equal < FEW_EQUAL_GROUPS and round(n_equal) < n_groups:
        say(
            "few",
            f"The {thousands(n_groups)} resampled {unit}s differ in size and are equivalent to "
            f"{math.floor(n_equal)} of equal size (fewer than {FEW_EQUAL_GROUPS}): {expect}",
        )
        return
    enough = FEW_BLOCKS if units.design.units_are_blocks else FEW_GROUPS
    if n_groups < enough:
        say(
            "few",
            f"Only {n_groups} {unit}s were resampled (fewer than {enough}): {expect}",
        )
        return
    if deciding:
        say("few", f"{deciding.format('this score')}: {expect}")


# ------------------------------------------------------------------ what limits do not show


def degeneracy(interval: ConfidenceInterval, evidence: Evidence | None = None) -> str | None:
    """Return a sentence on an interval without width or limits; None for others."""
    if interval.method == "score":
        # A score interval uses no resamples; a note says why a limit of it is undefined.
        return None
    low, high = interval
    if np.isnan(low) or np.isnan(high):
        if evidence is not None and np.isnan(evidence.estimate):
            return _NO_VALUE
        if evidence is not None and not evidence.drawn.varies:
            return evidence.drawn.why_none
        return NO_LIMITS
    if low == high:
        if evidence is not None and resamples_vary(evidence):
            return (
                "The interval has zero width, although resamples vary, because both limits fall "
                "on the same value; this does not show that the score is known exactly."
            )
        return (
            "The interval has zero width because every resample gave the same value; "
            "this does not show that the score is known exactly."
        )
    return None


def resamples_vary(evidence: Evidence) -> bool:
    """Return whether two resamples gave values that differ by more than rounding."""
    replicates = evidence.sorted_replicates
    if len(replicates) < 2:
        return False
    return bool(replicates[-1] - replicates[0] > ROUNDING * abs(evidence.estimate))


class EstimatedBias(NamedTuple):
    """Bias of an estimate, and the method that it is estimated by, as messages call it."""

    bias: float
    source: str


def estimated_bias(interval: ConfidenceInterval, evidence: Evidence) -> EstimatedBias:
    """Return the bias that the interval is free of, or else the bias of the resamples."""
    if interval.method == "jackknife" and evidence.jackknife_bias is not None:
        return EstimatedBias(evidence.jackknife_bias.bias, "the jackknife")
    mean = float(evidence.sorted_replicates.mean())
    return EstimatedBias(mean - evidence.estimate, "the resamples")


def estimate_outside_sentence(interval: ConfidenceInterval, evidence: Evidence) -> str | None:
    """Return a sentence on an interval that does not hold the estimate; None for others."""
    low, high = interval
    if not (evidence.estimate < low or evidence.estimate > high):
        return None
    if len(evidence.sorted_replicates) < 2:
        return None
    bias, source = estimated_bias(interval, evidence)
    return (
        f"The interval does not contain the estimate, {evidence.estimate:.4g}. Its bias is "
        f"{bias:+.3g} by {source}; corrected for that it is {evidence.estimate - bias:.4g}."
    )
