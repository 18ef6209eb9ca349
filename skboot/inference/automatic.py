"""What ``interval="auto"`` chooses: the best-measured method for the case, with its guards.

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
| average over fixed tasks | expanded | biased by .1 standard errors: bias-corrected |
| average over drawn tasks | t | |

Each rule adds notes for the reader of a summary; notes that are warnings come first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._base.errors import Note, collected, say, tell, thousands
from ._tuning import (
    BIAS_APART,
    BIAS_OVER_TASKS,
    FAR_ERROR,
    FEW_CARRIERS,
    FEW_EVENTS,
    FEW_IN_TABLE,
    FEW_ROWS,
    FEW_VALUES,
    INFLATED,
    LARGE_BIAS,
    LARGE_SKEWNESS,
    MANY_MEMBERS,
    NEAR_ERROR,
    SINGLE_ROWS,
    SURE_BIAS,
)
from .cautions import (
    cautions_of,
    effective_size,
    few_groups_interval,
    value_range,
    variation,
    wilson_on_range,
)
from .evidence import ConfidenceInterval, Evidence, Premises, notes_of_cut, within_range
from .intervals import (
    LEAVING_OUT,
    ROUNDING,
    WITHOUT_RESAMPLES,
    Floats,
    confidence_interval,
)

_NO_VALUE = "The metric is undefined on these data."
TOO_FEW = "fewer than two resamples gave a value"
NO_LIMITS = f"The limits are undefined: {TOO_FEW}."


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
        Of the score.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    IntervalWithNotes
        The limits are cut at the metric's bounds.
    """
    if np.isnan(evidence.estimate):
        return IntervalWithNotes(_undefined(confidence_level), (Note("degenerate", _NO_VALUE),))
    if not evidence.drawn.varies:
        note = Note("few", evidence.drawn.why_none)
        return IntervalWithNotes(_undefined(confidence_level), (note,))
    with collected() as told:
        interval = within_range(_chosen(evidence, confidence_level), evidence.facts.bounds)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in told if note.kind == "resamples"))
    notes = [note for note in told if note.kind != "resamples"]
    if interval.method == "score" and np.isnan(interval.low + interval.high):
        # Without a limit there is no coverage to lose: what says why stands for all cautions.
        del notes[:-1]
    # Warnings come first, in the order in which they were found.
    ordered = sorted((*notes, *notes_of_cut(interval)), key=lambda note: not note.is_warning)
    return IntervalWithNotes(interval, tuple(ordered))


def _chosen(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of the rule for this evidence; what it must say is told."""
    tell(*cautions_of(evidence))
    facts = evidence.facts
    if facts.bins is not None or facts.optimized or facts.proxy_weight is not None:
        return _made(evidence, planned_method(evidence), confidence_level)
    if evidence.drawn.design.averages_tasks:
        return _over_tasks(evidence, confidence_level)
    if evidence.drawn.design.units_are_rows:
        return _for_rows(evidence, confidence_level)
    if evidence.drawn.design.n_factors > 1:
        return _for_pairs(evidence, confidence_level)
    interval = _for_groups(evidence, confidence_level)
    if interval.method != "expanded":
        return interval
    # Percentiles double a bias. Studentized limits, which sums have, correct it.
    method = _without_bias("expanded", evidence)
    if method in LEAVING_OUT:
        _tell_of_single_units(evidence)
    return _made(evidence, method, confidence_level)


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


class BiasTold(NamedTuple):
    """Bias of an estimate, and what tells it."""

    bias: float
    told_by: str


def bias_told(interval: ConfidenceInterval, evidence: Evidence) -> BiasTold:
    """Return the bias that the interval is free of, else that of the resamples."""
    if interval.method == "jackknife" and evidence.left_out is not None:
        return BiasTold(evidence.left_out[0], "the jackknife")
    mean = float(evidence.sorted_replicates.mean())
    return BiasTold(mean - evidence.estimate, "the resamples")


def left_out_estimate(interval: ConfidenceInterval, evidence: Evidence) -> str | None:
    """Return a sentence on an interval that does not hold the estimate; None for others."""
    low, high = interval
    if not (evidence.estimate < low or evidence.estimate > high):
        return None
    if len(evidence.sorted_replicates) < 2:
        return None
    bias, told_by = bias_told(interval, evidence)
    return (
        f"The interval does not contain the estimate, {evidence.estimate:.4g}. Its bias is "
        f"{bias:+.3g} by {told_by}; corrected for that it is {evidence.estimate - bias:.4g}."
    )


def planned_method(evidence: Premises) -> str:
    """Method that "auto" will try first, which needs no replicates to be chosen.

    Parameters
    ----------
    evidence : Premises

    Returns
    -------
    str
        A key of `skboot.inference.intervals.INTERVALS`.
    """
    design = evidence.drawn.design
    facts = evidence.facts
    if facts.bins is not None:
        return "bins"
    if facts.optimized:
        # It is too low, and lower once more on resamples.
        return "bias-corrected"
    if facts.proxy_weight is not None:
        skewed = "skewed-t" if facts.additive else "t"
        return "logit-t" if np.isfinite(facts.bounds).all() else skewed
    if design.units_are_rows and (share := facts.proportion) is not None:
        # Wilson's interval is for 0/1 values, and for ratios of few hits or errors.
        # A row is added to hits and to errors, as to the cells of a table.
        if evidence.share is not None and share.with_one_of_each.n_deciding < FEW_IN_TABLE:
            return "beta"
        wilson = share.exact or min(share.hits, share.n - share.hits) < FEW_EVENTS
        if wilson and evidence.independent_rows:
            return "wilson"
        if not design.no_jackknife:
            return _in_strata("bca", evidence)
    method = _in_strata(
        design.automatic_interval(row_mean=facts.row_mean, additive=facts.additive), evidence
    )
    if method == "expanded":
        method = _quantile_method(evidence)
    if method == "studentized" and design.units_are_rows and facts.both_signs:
        # Losses have one sign and are skewed; of values of both the skewness of few is noise.
        return "skewed-t"
    return method


def _quantile_method(evidence: Premises) -> str:
    """Return "expanded", or Student's t where few units were drawn."""
    if not evidence.drawn.of_few:
        return "expanded"
    # Quantiles of resamples of few units stay within the range of what these bring.
    return "logit-t" if np.isfinite(evidence.facts.bounds).all() else "t"


def _in_strata(method: str, evidence: Premises) -> str:
    """Return "expanded" in place of BCa where few rows of each stratum were drawn."""
    few = evidence.drawn.n_strata > 1 and evidence.drawn.inflation > INFLATED
    return "expanded" if few and method == "bca" else method


def _undefined(confidence_level: float) -> ConfidenceInterval:
    """Return an interval with NaN limits."""
    return ConfidenceInterval(np.nan, np.nan, confidence_level, "undefined")


def _made(evidence: Evidence, method: str, confidence_level: float) -> ConfidenceInterval:
    """Return the interval by a method; NaN limits where fewer than two resamples have a value."""
    if method not in WITHOUT_RESAMPLES and len(evidence.sorted_replicates) < 2:
        return _undefined(confidence_level)
    return confidence_interval(evidence, method, confidence_level)


def _for_rows(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of independent or stratified rows."""
    if evidence.smoothed is not None:
        say(
            "choice",
            "Few rows decide the score: limits of smoothed tables are used, since resamples show "
            "no more than these rows.",
        )
        return _made(evidence, "smoothed", confidence_level)
    method = planned_method(evidence)
    share = evidence.facts.proportion
    if method == "wilson" and share is not None and not share.exact:
        say(
            "choice",
            f"Fewer than {FEW_EVENTS} hits or errors: the Wilson score interval is used, "
            "since bootstrap intervals are too short then.",
        )
    ends = np.array(evidence.facts.bounds)
    if method not in WITHOUT_RESAMPLES and np.isfinite(ends).all() and not resamples_vary(evidence):
        away = np.abs(ends - evidence.estimate)
        if away.min() <= ROUNDING * np.ptp(ends):
            return _perfect(replace(evidence, estimate=ends[away.argmin()]), confidence_level)
    if method == "expanded":
        # Percentiles double a bias.
        method = _without_bias(method, evidence)
    method = _in_place_of_bca(method, evidence)
    if method in LEAVING_OUT:
        _tell_of_single_units(evidence)
    return _made(evidence, method, confidence_level)


def _in_place_of_bca(method: str, evidence: Evidence) -> str:
    """Return the method that replaces BCa on these resamples, with a note; else the same method."""
    if method != "bca":
        return method
    if evidence.acceleration is None or np.isnan(evidence.acceleration):
        say(
            "choice",
            "The metric is undefined without some of the units, which BCa leaves out: the "
            "percentile interval is used.",
        )
        method = "percentile"
    elif _answers_in_jumps(evidence):
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
        return "expanded"
    return _without_bias(method, evidence)


def _without_bias(method: str, evidence: Evidence, large: float = LARGE_BIAS) -> str:
    """Return "jackknife" where the bias is large, with a note; else the same method.

    Where nothing is known without single units it is "bias-corrected".
    """
    are_few = min(evidence.drawn.n_units) < FEW_ROWS
    if are_few:
        # So few do not tell a bias of single units from their noise.
        evidence = replace(evidence, left_out=None)
    bias = _bias_in_errors(evidence)
    largest = max(abs(bias.of_resamples), abs(bias.left_out))
    if largest <= large and abs(bias.of_resamples - bias.left_out) <= BIAS_APART:
        return method
    is_sure = largest > SURE_BIAS and not are_few
    if not is_sure and abs(_skewness(evidence.sorted_replicates)) > LARGE_SKEWNESS:
        return method
    where = "below" if bias.of_resamples < 0 else "above"
    told = (
        f"Resamples are on average {abs(bias.of_resamples):.2g} standard errors {where} the "
        "estimate"
    )
    if evidence.left_out is None:
        corrected = 2 * evidence.estimate - evidence.sorted_replicates.mean()
        about = f"t interval about the bias-corrected estimate, {corrected:.4g}."
        say("choice", f"{told}: {about}")
        return "bias-corrected"
    say(
        "choice",
        f"{told}, and its bias is {round(bias.left_out, 6):+.2g} standard errors by the jackknife: "
        f"t interval about the estimate corrected for the jackknife's bias, "
        f"{evidence.estimate - evidence.left_out[0]:.4g}.",
    )
    return "jackknife"


def _tell_of_single_units(evidence: Evidence) -> None:
    """Add a warning where units that are the only ones of their kind decide a score."""
    replicates = evidence.sorted_replicates
    spread = replicates.std() if len(replicates) > 1 else 0.0
    if evidence.facts.class_sizes is not None or evidence.facts.largest_share is not None:
        # Of an average over classes their rows are counted, and of a mean the largest; see
        # `cautions_of`.
        return
    if evidence.left_out is None or not evidence.left_out[1] > SINGLE_ROWS * spread > 0:
        return
    say(
        "caution",
        f"Leaving out single {evidence.drawn.design.unit}s gives "
        f"{evidence.left_out[1] / spread:.2g} times the standard error of the resamples: those "
        "that are the only ones of their kind decide the score. Expect less coverage than stated.",
    )


def _answers_in_jumps(evidence: Evidence) -> bool:
    """Return whether single units move the metric as they move a quantile: to few values, or far.

    A share of rows takes two values as well, and a ranking of few rows not many more; for these the
    jackknife has the standard error of the resamples. For a median the ratio of the two is random
    and follows a function of the exponential distribution (Efron 1979, section 3).
    """
    if evidence.jackknife is None:
        return False
    error, n_values, n_left_out = evidence.jackknife
    replicates = evidence.sorted_replicates
    spread = replicates.std() if len(replicates) > 1 else 0.0
    if spread == 0:
        return False
    ratio = error / spread
    if n_values <= min(max(FEW_VALUES, n_left_out // 4), n_left_out // 2):
        return abs(ratio - 1) > NEAR_ERROR or (n_values < 4 and not _evenly_spaced(replicates))
    return not 1 / FAR_ERROR < ratio < FAR_ERROR


def _evenly_spaced(ordered: Floats) -> bool:
    """Return whether values are whole multiples of one step apart, as counts of rows are."""
    steps = np.diff(ordered)
    steps = steps[steps > 1e-9 * (ordered[-1] - ordered[0])]
    if len(steps) == 0:
        return True
    multiples = steps / steps.min()
    return bool(np.all(np.abs(multiples - np.round(multiples)) < 1e-3 * multiples))


class _Bias(NamedTuple):
    """What resamples show of a bias, and what single units do, in standard errors."""

    of_resamples: float
    left_out: float


def _bias_in_errors(evidence: Evidence) -> _Bias:
    """Return both biases, 0 where the replicates do not vary.

    Where nothing is known without single units, their bias is that of the resamples.
    """
    replicates = evidence.sorted_replicates
    if len(replicates) < 2 or replicates[0] == replicates[-1]:
        return _Bias(0.0, 0.0)
    mean, error = replicates.mean(), replicates.std()
    left_out = of_resamples = float((mean - evidence.estimate) / error)
    if evidence.left_out is not None:
        left_out = evidence.left_out[0] / max(float(error), evidence.left_out[1])
    return _Bias(of_resamples, left_out)


def _skewness(values: Floats) -> float:
    return float(np.mean(((values - values.mean()) / values.std()) ** 3))


def _perfect(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of a perfect score: that of no error on the rows that decide it."""
    of, n_rows = "the smaller class", evidence.facts.deciding
    if n_rows is None:
        of, n_rows = "all rows", float(evidence.drawn.n_units[0])
    say(
        "choice",
        f"No row is out of place: score interval on {of} ({n_rows:.0f} rows), since every "
        "resample is perfect too.",
    )
    return wilson_on_range(evidence.estimate, evidence.facts.bounds, n_rows, confidence_level)


def _for_groups(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of groups, or of blocks of rows in time."""
    replicates = evidence.sorted_replicates
    if len(replicates) and replicates[0] == replicates[-1]:
        low, high = ends = value_range(evidence)
        if evidence.estimate in ends and np.all(np.isfinite(ends)):
            return _perfect_groups(evidence, confidence_level)
        # Losses without bounds are taken as not negative.
        low = 0.0 if np.isinf(low) and np.isinf(high) else low
        if evidence.facts.additive and evidence.estimate in (low, high):
            return _groups_without_loss(evidence, low, confidence_level)
    method = planned_method(evidence)
    if method == "studentized":
        return _for_sums_of_groups(evidence, confidence_level)
    if evidence.over_time is not None:
        method = "ewc"
    return _made(evidence, method, confidence_level)


def _perfect_groups(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return Wilson's interval of n_groups (z / t)^2 rows for groups that all are perfect."""
    n_groups, unit = evidence.drawn.n_units[0], evidence.drawn.design.unit
    effective = effective_size(evidence, confidence_level)
    say(
        "choice",
        f"No {unit} shows any error, so resampling cannot show any spread: Wilson interval with "
        f"{effective:.1f} effective rows for {thousands(n_groups)} {unit}s.",
    )
    return few_groups_interval(evidence, confidence_level)


def _groups_without_loss(
    evidence: Evidence, low: float, confidence_level: float
) -> ConfidenceInterval:
    """Return an interval with one limit for losses that are 0 in every group.

    A loss has no largest value, so that nothing bounds the losses of other groups.
    """
    unit, n_units = evidence.drawn.design.unit, evidence.drawn.n_units[0]
    side, limits = "lower", (np.nan, evidence.estimate)
    if evidence.estimate == low:
        side, limits = "upper", (evidence.estimate, np.nan)
    say(
        "caution",
        f"No {unit} shows any loss, and a loss has no largest value: the {side} limit is "
        f"undefined, since nothing in these {thousands(n_units)} {unit}s shows how large other "
        "losses are.",
    )
    return ConfidenceInterval(*limits, confidence_level, "score")


def _for_sums_of_groups(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
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
            f"{reason}. A score interval (as Wilson's) is used, which covered 90 to 97 %, with "
            "very heavy tails 87 to 93 %.",
        )
    return interval


def _over_tasks(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of an average over tasks."""
    method = planned_method(evidence)
    if method == "expanded":
        # The bias of a metric within small tasks does not average out over the tasks, and resamples
        # have it twice. A bias below three Monte Carlo errors may be chance.
        chance = 3 / np.sqrt(max(len(evidence.sorted_replicates), 1))
        method = _without_bias(method, evidence, max(BIAS_OVER_TASKS, chance))
    return _made(evidence, method, confidence_level)


def _for_pairs(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Return the interval of crossed factors."""
    method = planned_method(evidence)
    enough = evidence.drawn.design.same_population or min(evidence.drawn.n_units) >= MANY_MEMBERS
    if evidence.robust_variance is not None and enough:
        method = "two-way"
    return _made(evidence, method, confidence_level)
