"""Differences between systems: each by itself, and all at once.

The functions take replicates from wherever they come. A pair is always computed with the same
one of its systems first, and mirrored if asked the other way round, so that exchanging two systems
changes the signs and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._evaluating import CallWarnings, make_gap_result
from .._evidence import ScoreCall
from .._gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of_difference
from .._inputs import Part
from .._warnings import Note, Notes, collected
from ..inference.automatic import degeneracy
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.differences import (
    CLOSED_FORM,
    Difference,
    automatic_method,
    delong_error,
    difference_interval,
    p_value,
    share_won,
)
from ..inference.distribution import JackknifeValues
from ..inference.intervals import (
    Evidence,
    confidence_interval,
    snapped,
)
from ..inference.multiplicity import (
    holm,
    max_t_adjusted,
    max_t_deviations,
    t_quantile_of_normal,
)
from ..inference.proportions import Discordant, mcnemar_exact
from ..metrics.statistic import Statistic
from ..results import EvaluationResult
from ..results.gap_basis import GapBasis
from ..results.pairs import PairedDifference

Floats = NDArray[np.float64]

# Differences of scores below this share of the scores are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Contestant:
    """A system that is compared, on one metric and subgroup.

    Attributes
    ----------
    name : str
        Its name.
    rank : int
        Where it comes in an order that does not depend on the order of the call.
    evidence : Evidence
        With replicates that are common to the family.
    result : EvaluationResult
        The system by itself.
    few_units : tuple of Note
        Warnings of too few rows or groups, which hold for every pair.
    predicted : ndarray of shape (n_samples, ...) or None
        Predictions, to see who predicts the same.
    right : ndarray of shape (n_samples,) or None
        Whether each row counts as 1, for 0/1 values of independent rows.
    left_out : tuple (JackknifeValues, ndarray of shape (n_lines,)) or None
        Values without single units, for BCa.
    delong : tuple (covariance, number, size of the smaller class) or None
        For areas under ROC curves.
    """

    name: str
    rank: int
    evidence: Evidence
    result: EvaluationResult
    few_units: tuple[Note, ...] = ()
    predicted: NDArray[Any] | None = None
    right: NDArray[np.bool_] | None = None
    left_out: tuple[JackknifeValues, Floats] | None = None
    delong: tuple[Floats, int, int] | None = None


def pairs_of(names: Iterable[str], reference: str | None) -> list[tuple[str, str]]:
    """All pairs in the order of the call, or each other system with the reference."""
    names = list(names)
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]


def compare_pairs(
    contestants: Mapping[str, Contestant],
    pairs: Sequence[tuple[str, str]],
    *,
    interval: str,
    adjust: str | None,
    confidence_level: float,
) -> tuple[list[PairedDifference], list[Note]]:
    """Return the records of all pairs, and what must be known of them.

    Parameters
    ----------
    contestants : mapping of str to Contestant
    pairs : sequence of tuple of str
        Which to compare.
    interval : str
        "auto" or a method of `skboot.inference.differences`.
    adjust : {"max-t", "holm", None}
        How to adjust for the number of pairs.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    pairs : list of PairedDifference
        In the order of ``pairs``.
    notes : list of Note
    """
    ordered = [_ordered(contestants[one], contestants[other]) for one, other in pairs]
    differences = [_difference(*both) for both in ordered]
    methods = [
        automatic_method(difference) if interval == "auto" else interval
        for difference in differences
    ]
    with collected() as too_few:
        own = [
            _alone(both, difference, method, confidence_level)
            for both, difference, method in zip(ordered, differences, methods, strict=True)
        ]
    order = _places([(one.rank, other.rank) for one, other in ordered])
    adjusted = _adjusted(own, differences, methods, order, adjust, confidence_level)
    records = [
        record if (record.first, record.second) == pair else record.mirrored()
        for record, pair in zip(adjusted, pairs, strict=True)
    ]
    notes = _notes(records, differences, interval, adjust, confidence_level)
    return records, [*dict.fromkeys(too_few), *notes]


def _places(keys: Sequence[Any]) -> NDArray[np.intp]:
    """Return the place of each key in their sorted order."""
    return np.argsort(np.array(sorted(range(len(keys)), key=lambda k: keys[k]), dtype=np.intp))


# ------------------------------------------------------------------ one pair


def _ordered(one: Contestant, other: Contestant) -> tuple[Contestant, Contestant]:
    return (one, other) if one.rank < other.rank else (other, one)


def _difference(first: Contestant, second: Contestant) -> Difference:
    """Return first minus second, with rounding taken out."""
    one, other = first.evidence, second.evidence
    estimate = one.estimate - other.estimate
    scale = _ROUNDING * max(abs(one.estimate), abs(other.estimate))
    if abs(estimate) <= scale:
        estimate = 0.0
    replicates = one.replicates - other.replicates
    sizes = np.maximum(np.abs(one.replicates), np.abs(other.replicates))
    with np.errstate(invalid="ignore"):
        replicates[np.abs(replicates) <= _ROUNDING * sizes] = 0.0
        # A difference that never changes must not look as if it did.
        replicates[np.abs(replicates - estimate) <= _ROUNDING * sizes] = estimate
    low, high = one.bounds
    acceleration = None
    if first.left_out is not None and second.left_out is not None:
        values = first.left_out[1] - second.left_out[1]
        acceleration = first.left_out[0].acceleration(values, estimate)
    delong = None
    if first.delong is not None and second.delong is not None:
        delong = (delong_error(first.delong[0], first.delong[1], second.delong[1]), first.delong[2])
    evidence = Evidence(
        estimate=float(estimate),
        replicates=replicates,
        kind=one.kind,
        n_units=one.n_units,
        n_strata=one.n_strata,
        bounds=(low - high, high - low),
        weighted=one.weighted,
        acceleration=acceleration,
        delong=delong,
    )
    return Difference(evidence, _discordant(first, second), _identical(first, second))


def _discordant(first: Contestant, second: Contestant) -> Discordant | None:
    if first.right is None or second.right is None:
        return None
    first_only = int(np.count_nonzero(first.right & ~second.right))
    second_only = int(np.count_nonzero(second.right & ~first.right))
    return Discordant(first_only, second_only, len(first.right))


def _identical(first: Contestant, second: Contestant) -> bool:
    if first.predicted is None or second.predicted is None:
        return False
    return first.evidence.estimate == second.evidence.estimate and np.array_equal(
        first.predicted, second.predicted
    )


def _alone(
    both: tuple[Contestant, Contestant],
    difference: Difference,
    method: str,
    confidence_level: float,
) -> PairedDifference:
    """One difference without regard to the others."""
    interval = difference_interval(difference, method, confidence_level)
    evidence, counts = difference.evidence, difference.discordant
    defined = evidence.sorted_replicates
    spread = float(defined.std(ddof=1)) if difference.varies else 0.0
    return PairedDifference(
        first=both[0].name,
        second=both[1].name,
        difference=evidence.estimate,
        confidence_interval=interval,
        simultaneous_interval=None,
        p_value=p_value(difference, method, confidence_level),
        p_value_adjusted=np.nan,
        bootstrap_support=share_won(defined, both[0].result.greater_is_better),
        standard_error=spread if len(defined) > 1 else np.nan,
        degrees_of_freedom=None if method in CLOSED_FORM else evidence.degrees_of_freedom,
        mcnemar_p_value=None if counts is None else mcnemar_exact(*counts[:2]),
    )


# ------------------------------------------------------------------ all pairs


def _adjusted(
    records: list[PairedDifference],
    differences: Sequence[Difference],
    methods: Sequence[str],
    order: NDArray[np.intp],
    adjust: str | None,
    confidence_level: float,
) -> list[PairedDifference]:
    if adjust is None:
        return records
    if len(records) == 1:
        [only] = records
        wide, p = only.confidence_interval, only.p_value
        return [replace(only, simultaneous_interval=wide, p_value_adjusted=p)]
    if adjust == "holm":
        return _by_holm(records, differences, methods, confidence_level)
    return _by_max_t(records, differences, methods, order, confidence_level)


def _by_max_t(
    records: list[PairedDifference],
    differences: Sequence[Difference],
    methods: Sequence[str],
    order: NDArray[np.intp],
    confidence_level: float,
) -> list[PairedDifference]:
    """Return simultaneous intervals and p-values from the joint bootstrap."""
    estimates = np.array([record.difference for record in records])
    replicates = np.array([difference.evidence.replicates for difference in differences])
    drawn = differences[0].evidence
    errors, largest = max_t_deviations(estimates, replicates, drawn.degrees_of_freedom, order)
    errors = np.array(
        [
            error if difference.varies else 0.0
            for error, difference in zip(errors, differences, strict=True)
        ]
    )
    alone = np.array([record.p_value for record in records])
    quantiles = t_quantile_of_normal(largest, drawn.degrees_of_freedom, drawn.n_strata)
    joint = max_t_adjusted(alone, estimates, errors, quantiles)
    found = []
    for k, (record, difference) in enumerate(zip(records, differences, strict=True)):
        if errors[k] > 0:
            known = replace(difference.evidence, max_t=(float(errors[k]), largest))
            # The pair by itself has told that resamples are too few.
            with collected():
                wide = confidence_interval(known, "max-t", confidence_level)
            wide = wide.with_limits(*snapped(wide.low, wide.high))
            p = float(joint[k])
        else:
            # Not among the largest of the resamples: by Bonferroni's rule, if at all.
            wide, p = _bonferroni(record, difference, methods[k], len(records), confidence_level)
            wide = ConfidenceInterval(*wide, confidence_level, "max-t")
        widened = _widened_to_hold(wide, record.confidence_interval, difference.evidence.bounds)
        found.append(replace(record, simultaneous_interval=widened, p_value_adjusted=p))
    return found


def _by_holm(
    records: list[PairedDifference],
    differences: Sequence[Difference],
    methods: Sequence[str],
    confidence_level: float,
) -> list[PairedDifference]:
    """Return Holm's p-values, with Bonferroni intervals."""
    adjusted = holm([record.p_value for record in records])
    found = []
    for record, difference, method, p in zip(records, differences, methods, adjusted, strict=True):
        wide, _ = _bonferroni(record, difference, method, len(records), confidence_level)
        widened = _widened_to_hold(wide, record.confidence_interval, difference.evidence.bounds)
        found.append(replace(record, simultaneous_interval=widened, p_value_adjusted=float(p)))
    return found


def _bonferroni(
    record: PairedDifference,
    difference: Difference,
    method: str,
    n_pairs: int,
    confidence_level: float,
) -> tuple[ConfidenceInterval, float]:
    """Interval at level 1 - (1 - level) / m, and m times the p-value.

    From the bootstrap standard error: quantiles so far out would need many more resamples.
    """
    if np.isnan(record.p_value):
        return ConfidenceInterval(
            *record.confidence_interval, confidence_level, "bonferroni"
        ), np.nan
    p = min(1.0, n_pairs * record.p_value)
    if difference.identical or (not difference.varies and record.difference == 0):
        return ConfidenceInterval(*record.confidence_interval, confidence_level, "bonferroni"), p
    if not difference.varies and method not in CLOSED_FORM:
        # Every resample gave the same difference: they say nothing of how sure it is.
        low, high = difference.evidence.bounds
        return ConfidenceInterval(low, high, confidence_level, "bonferroni"), 1.0
    stricter = 1 - (1 - confidence_level) / n_pairs
    # The pair by itself has told that resamples are too few.
    with collected():
        found = difference_interval(difference, method if method in CLOSED_FORM else "t", stricter)
    return ConfidenceInterval(found.low, found.high, confidence_level, "bonferroni"), p


def _widened_to_hold(
    wide: ConfidenceInterval, own: ConfidenceInterval, bounds: tuple[float, float]
) -> ConfidenceInterval:
    """Simultaneous interval, never inside the pair's own, and within what is possible."""
    low = max(min(wide.low, own.low), min(bounds[0], own.low))
    high = min(max(wide.high, own.high), max(bounds[1], own.high))
    return wide.with_limits(low, high)


# ------------------------------------------------------------------ notes


def _notes(
    records: Sequence[PairedDifference],
    differences: Sequence[Difference],
    interval: str,
    adjust: str | None,
    confidence_level: float,
) -> Notes:
    """Return what must be known of the differences."""
    notes = Notes()
    same, flat, few = [], [], []
    for record, difference in zip(records, differences, strict=True):
        name = f"{record.first} and {record.second}"
        if difference.identical:
            same.append(name)
        elif interval == "auto" and record.confidence_interval.method == "tango":
            few.append(name)
        elif degeneracy(record.confidence_interval):
            flat.append(f"{name}: {degeneracy(record.confidence_interval)}")
    if same:
        notes.add(
            "degenerate",
            f"Identical predictions: {_listed(same)}. Their difference is 0, and its interval "
            "[0, 0] is degenerate: it does not show that they would agree on other rows.",
        )
    if few:
        notes.add(
            "choice",
            f"Fewer than ten rows tell these apart, so the interval is Tango's: {_listed(few)}.",
        )
    notes += [Note("degenerate", text) for text in flat[:3]]
    undefined = [int(np.isnan(each.evidence.replicates).sum()) for each in differences]
    if any(undefined):
        notes.add("advice", f"Undefined on up to {max(undefined)} resamples, which are left out.")
    n_resamples = len(differences[0].evidence.replicates)
    needed = int(np.ceil(2 * len(records) / (1 - confidence_level)))
    if adjust == "holm" and n_resamples + 1 < needed:
        notes.add(
            "advice",
            f"With {n_resamples} resamples no p-value adjusted by Holm for {len(records)} "
            f"differences can fall below {1 - confidence_level:.2g}: use n_resamples={needed - 1} "
            "or adjust='max-t'.",
        )
    return notes


def _listed(names: Sequence[str], most: int = 5) -> str:
    if len(names) <= most:
        return "; ".join(names)
    return f"{'; '.join(names[:most])}; and {len(names) - most} more"


# ------------------------------------------------------------------ subgroups


def largest_gaps(
    call: ScoreCall,
    metric: str,
    statistic: Statistic,
    parts: Sequence[Part],
    families: Mapping[Any, Mapping[str, Contestant]],
    pairs: Sequence[tuple[str, str]],
    warned: CallWarnings,
) -> dict[str, EvaluationResult]:
    """For each pair of systems, the two subgroups between which its difference changes most.

    The intervals are simultaneous over all pairs of subgroups and all pairs of systems.
    """
    every = [contestant.evidence for family in families.values() for contestant in family.values()]
    subgroups = measured(statistic, call.rows, parts, every)
    found = {}
    for one, other in pairs:
        within = [
            _difference(families[part.name][one], families[part.name][other]) for part in parts
        ]
        own = [difference.evidence for difference in within]
        kept = kept_of(subgroups, own, metric)
        pair = NO_PAIR
        known = no_gap(own[0], len(pairs))
        if kept.at:
            sides = [
                side_of_difference(statistic, subgroups[k], own[k], within[k].discordant)
                for k in kept.at
            ]
            (a, b), known = gap_of(sides, [own[k] for k in kept.at], len(pairs))
            pair = f"{subgroups[kept.at[a]].name} - {subgroups[kept.at[b]].name}"
        n_pairs = len(kept.at) * (len(kept.at) - 1) // 2
        name = f"{one} - {other}"
        notes = [
            f"The largest of {n_pairs} changes between subgroups of the difference {name}, with "
            f"its simultaneous interval over {n_pairs * len(pairs)} changes."
        ]
        result = make_gap_result(
            call,
            GapBasis(known, metric=metric, pair=f"{name}: {pair}", of_systems=True),
            notes if n_pairs else [],
            kept.caution,
            warned,
        )
        found[name] = replace(result, held_fixed=("the trained systems", *result.held_fixed[1:]))
    return found
