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
    shared_notes : tuple of Note
        Notes that hold for every pair, such as of too few rows or groups.
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
    shared_notes: tuple[Note, ...] = ()
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
    with collected() as too_few:
        compared = [
            _pair(contestants[one], contestants[other], interval, confidence_level)
            for one, other in pairs
        ]
    records = [
        record if (record.first, record.second) == pair else record.mirrored()
        for record, pair in zip(_adjusted(compared, adjust), pairs, strict=True)
    ]
    notes = _notes(records, compared, interval, adjust, confidence_level)
    return records, [*dict.fromkeys(too_few), *notes]


# ------------------------------------------------------------------ one pair


@dataclass(frozen=True, eq=False)
class _Pair:
    """The difference of two systems by itself; the first is the one of the lower rank."""

    ranks: tuple[int, int]
    difference: Difference
    method: str
    record: PairedDifference

    def adjusted(self, wide: ConfidenceInterval, p: float) -> PairedDifference:
        """Return the record with a simultaneous interval that holds the interval by itself."""
        own, bounds = self.record.confidence_interval, self.difference.evidence.bounds
        low = max(min(wide.low, own.low), min(bounds[0], own.low))
        high = min(max(wide.high, own.high), max(bounds[1], own.high))
        wide = wide.with_limits(low, high)
        return replace(self.record, simultaneous_interval=wide, p_value_adjusted=p)


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
    evidence = one.of_other_values(
        float(estimate),
        replicates,
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


def _pair(one: Contestant, other: Contestant, interval: str, confidence_level: float) -> _Pair:
    """Return the difference of two systems without regard to the others."""
    first, second = (one, other) if one.rank < other.rank else (other, one)
    difference = _difference(first, second)
    method = automatic_method(difference) if interval == "auto" else interval
    evidence, counts = difference.evidence, difference.discordant
    defined = evidence.sorted_replicates
    spread = float(defined.std(ddof=1)) if difference.varies else 0.0
    record = PairedDifference(
        first=first.name,
        second=second.name,
        difference=evidence.estimate,
        confidence_interval=difference_interval(difference, method, confidence_level),
        simultaneous_interval=None,
        p_value=p_value(difference, method, confidence_level),
        p_value_adjusted=np.nan,
        bootstrap_support=share_won(defined, first.result.greater_is_better),
        standard_error=spread if len(defined) > 1 else np.nan,
        degrees_of_freedom=None if method in CLOSED_FORM else evidence.degrees_of_freedom,
        mcnemar_p_value=None if counts is None else mcnemar_exact(*counts[:2]),
    )
    return _Pair((first.rank, second.rank), difference, method, record)


# ------------------------------------------------------------------ all pairs


def _adjusted(pairs: Sequence[_Pair], adjust: str | None) -> list[PairedDifference]:
    """Return the records of all pairs, with simultaneous intervals unless none are asked for."""
    if adjust is None:
        return [pair.record for pair in pairs]
    if len(pairs) == 1:
        only = pairs[0].record
        wide, p = only.confidence_interval, only.p_value
        return [replace(only, simultaneous_interval=wide, p_value_adjusted=p)]
    return _by_holm(pairs) if adjust == "holm" else _by_max_t(pairs)


def _by_max_t(pairs: Sequence[_Pair]) -> list[PairedDifference]:
    """Return records with simultaneous intervals and p-values from the joint bootstrap."""
    differences = [pair.difference for pair in pairs]
    estimates = np.array([pair.record.difference for pair in pairs])
    replicates = np.array([difference.evidence.replicates for difference in differences])
    drawn = differences[0].evidence
    # The result must not depend on the order of the call, so the pairs are sorted by their ranks.
    order = np.argsort(sorted(range(len(pairs)), key=lambda k: pairs[k].ranks))
    errors, largest = max_t_deviations(estimates, replicates, drawn.degrees_of_freedom, order)
    errors = np.where([difference.varies for difference in differences], errors, 0.0)
    alone = np.array([pair.record.p_value for pair in pairs])
    quantiles = t_quantile_of_normal(largest, drawn.degrees_of_freedom, drawn.n_strata)
    joint = max_t_adjusted(alone, estimates, errors, quantiles)
    records = []
    for k, pair in enumerate(pairs):
        level = pair.record.confidence_interval.confidence_level
        if errors[k] > 0:
            evidence = replace(pair.difference.evidence, max_t=(float(errors[k]), largest))
            # The interval of the pair by itself has told that resamples are too few.
            with collected():
                wide = confidence_interval(evidence, "max-t", level)
            wide = wide.with_limits(*snapped(wide.low, wide.high))
            p = float(joint[k])
        else:
            # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
            wide, p = _bonferroni(pair, len(pairs))
            wide = ConfidenceInterval(*wide, level, "max-t")
        records.append(pair.adjusted(wide, p))
    return records


def _by_holm(pairs: Sequence[_Pair]) -> list[PairedDifference]:
    """Return records with Holm's p-values and Bonferroni intervals."""
    adjusted = holm([pair.record.p_value for pair in pairs])
    return [
        pair.adjusted(_bonferroni(pair, len(pairs))[0], float(p))
        for pair, p in zip(pairs, adjusted, strict=True)
    ]


def _bonferroni(pair: _Pair, n_pairs: int) -> tuple[ConfidenceInterval, float]:
    """Interval at level 1 - (1 - level) / m, and m times the p-value.

    From the bootstrap standard error: quantiles so far out would need many more resamples.
    """
    record, difference, method = pair.record, pair.difference, pair.method
    level = record.confidence_interval.confidence_level
    same = ConfidenceInterval(*record.confidence_interval, level, "bonferroni")
    if np.isnan(record.p_value):
        return same, np.nan
    p = min(1.0, n_pairs * record.p_value)
    if difference.identical or (not difference.varies and record.difference == 0):
        return same, p
    if not difference.varies and method not in CLOSED_FORM:
        # Equal differences on all resamples do not show how sure the difference is.
        return same.with_limits(*difference.evidence.bounds), 1.0
    stricter = 1 - (1 - level) / n_pairs
    # The interval of the pair by itself has told that resamples are too few.
    with collected():
        wide = difference_interval(difference, method if method in CLOSED_FORM else "t", stricter)
    return same.with_limits(*wide), p


# ------------------------------------------------------------------ notes


def _notes(
    records: Sequence[PairedDifference],
    pairs: Sequence[_Pair],
    interval: str,
    adjust: str | None,
    confidence_level: float,
) -> Notes:
    """Return what must be known of the differences."""
    notes = Notes()
    differences = [pair.difference for pair in pairs]
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
    gaps = {}
    for one, other in pairs:
        within = [
            _difference(families[part.name][one], families[part.name][other]) for part in parts
        ]
        evidence = [difference.evidence for difference in within]
        kept = kept_of(subgroups, evidence, metric)
        pair = NO_PAIR
        gap = no_gap(evidence[0], len(pairs))
        if kept.at:
            sides = [
                side_of_difference(statistic, subgroups[k], evidence[k], within[k].discordant)
                for k in kept.at
            ]
            (a, b), gap = gap_of(sides, [evidence[k] for k in kept.at], len(pairs))
            pair = f"{subgroups[kept.at[a]].name} - {subgroups[kept.at[b]].name}"
        n_pairs = len(kept.at) * (len(kept.at) - 1) // 2
        name = f"{one} - {other}"
        n_changes = n_pairs * len(pairs)
        notes = [
            f"The largest of {n_pairs} changes between subgroups of the difference {name}, with "
            f"its simultaneous interval over {n_changes} changes."
        ]
        if n_changes == 1:
            notes = [f"The change between the two subgroups of the difference {name}."]
        result = make_gap_result(
            call,
            GapBasis(gap, metric=metric, pair=f"{name}: {pair}", of_systems=True),
            notes if n_pairs else [],
            kept.caution,
            warned,
        )
        gaps[name] = replace(result, held_fixed=("the trained systems", *result.held_fixed[1:]))
    return gaps
