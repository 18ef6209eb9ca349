"""Differences between systems: each by itself, and all at once.

The functions take replicates from wherever they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from .._warnings import Note, Notes, collected
from ..inference.automatic import degeneracy
from ..inference.cautions import caution_of_distances
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.differences import (
    CLOSED_FORM,
    difference_interval,
)
from ..inference.intervals import INTERVALS, snapped
from ..inference.multiplicity import (
    JointDeviations,
    holm,
    joint_deviations,
    max_t_adjusted,
    max_t_quantile,
    step_down,
    t_quantile_of_normal,
)
from ..inference.proportions import Discordant, discordant_t, mcnemar_p_values
from ..results import EvaluationResult
from ..results.decisions import few_compared
from ..results.gap_basis import GapBasis
from ..results.pairs import PairedDifference
from ..study.gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of_difference
from ..study.scores import make_gap_result
from ..study.study import Study
from .asked import Asked
from .contestants import (
    Contestant,
    bounds_of_difference,
    difference_of,
)
from .families import Family
from .pairs_alone import Alone, each_alone

Floats = NDArray[np.float64]


def compare_pairs(
    contestants: Mapping[str, Contestant], pairs: Sequence[tuple[str, str]], asked: Asked
) -> tuple[list[PairedDifference], list[Note]]:
    """Return the records of all pairs, and what must be known of them.

    Parameters
    ----------
    contestants : mapping of str to Contestant
    pairs : sequence of tuple of str
        Which to compare.
    asked : Asked

    Returns
    -------
    pairs : list of PairedDifference
        In the order of ``pairs``.
    notes : list of Note
    """
    family = Family.of(contestants, pairs, asked)
    with collected() as too_few:
        alone = each_alone(family)
    records = family.in_order_of_call(_records(family, alone, _adjusted(family, alone)))
    return records, [*dict.fromkeys(too_few), *_notes(family, alone, records)]


# ------------------------------------------------------------------ all pairs


@dataclass
class _Adjusted:
    """What is known of each pair beside the others; arrays of shape (n_pairs,).

    ``quantile`` is that of the normal distribution which the interval reaches out to, ``signs``
    what step-down tests tell.
    """

    method: NDArray[Any]
    low: Floats
    high: Floats
    p: Floats
    quantile: Floats
    signs: NDArray[np.int8] | None = None


def _adjusted(family: Family, alone: Alone) -> _Adjusted | None:
    """Return simultaneous intervals and p-values, unless none are asked for."""
    asked = family.asked
    if asked.adjust is None:
        return None
    if len(family) == 1:
        quantile = np.full(1, _normal_quantile(asked, 1))
        only = _Adjusted(alone.method, alone.low, alone.high, alone.p, quantile)
        if asked.with_ranks:
            only.signs = (alone.low > 0).astype(np.int8) - (alone.high < 0)
        return only
    return _by_holm(family, alone) if asked.adjust == "holm" else _by_max_t(family, alone)


def _normal_quantile(asked: Asked, n_pairs: int) -> float:
    """Quantile of the normal distribution at Bonferroni's level."""
    rest = (1 - asked.confidence_level) / n_pairs
    return float(-ndtri(rest / 2 if asked.alternative == "two-sided" else rest))


def _by_max_t(family: Family, alone: Alone) -> _Adjusted:
    """Return simultaneous intervals and p-values from the joint bootstrap."""
    asked, like, estimates = family.asked, family.like, family.differences
    df = like.drawn.degrees_of_freedom
    errors = np.where(alone.varies, alone.error, 0.0)
    signs = None
    if asked.alternative != "two-sided":
        signs = np.where(family.swapped, -1.0, 1.0) * (1 if asked.alternative == "greater" else -1)
    joint = joint_deviations(
        estimates,
        errors,
        family.blocks_of_resamples(),
        df,
        signs=signs,
        with_signs=asked.with_ranks and family.counts is None,
    )
    evidence = like.of_other_values(estimates, np.empty(0), max_t=(errors, joint.largest))
    low, high = INTERVALS["max-t"].limits(evidence, asked.confidence_level)
    if signs is not None:
        low, high = np.where(signs > 0, low, -np.inf), np.where(signs > 0, np.inf, high)
    quantiles = t_quantile_of_normal(joint.largest, df, like.drawn.inflation)
    p = max_t_adjusted(alone.p, estimates, errors, quantiles, signs)
    quantile = np.full(len(family), max_t_quantile(joint.largest, asked.confidence_level))
    found = _Adjusted(_named("max-t", family), *snapped(low, high), p, quantile)
    for k in np.flatnonzero(~(errors > 0)).tolist():
        # The pair is not among the largest of the resamples; Bonferroni's rule may apply.
        (found.low[k], found.high[k]), found.p[k] = _bonferroni(family, alone, k)
        found.quantile[k] = _normal_quantile(asked, len(family))
    if asked.with_ranks:
        found.signs = _signs(family, errors, joint)
    return _holding_own(family, alone, found)


def _signs(family: Family, errors: Floats, joint: JointDeviations) -> NDArray[np.int8]:
    """Return 1 where the first is told to score higher, -1 lower, by step-down tests."""
    like, counts = family.like, family.counts
    df, rest = like.drawn.degrees_of_freedom, 1 - family.asked.confidence_level
    if counts is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            t = family.differences / np.where(errors > 0, errors, np.nan)
        # The standard error of resamples is too small by sqrt(df / n).
        t /= np.sqrt(like.drawn.inflation)
    else:
        n = len(family.contestants[0].right)  # type: ignore[arg-type]
        t = np.sign(family.differences) * discordant_t(counts[:, 0], counts[:, 1], n)
    # Differences of right and wrong rows are skewed where few rows tell two systems apart. Many
    # pairs together get that far out, and resamples about the estimates do not show it.
    known = joint if counts is None else None
    return step_down(t, known, 1 - rest, lambda m: -float(stdtrit(df, rest / m)))


def _by_holm(family: Family, alone: Alone) -> _Adjusted:
    """Return Holm's p-values and Bonferroni intervals."""
    limits = np.array([_bonferroni(family, alone, k)[0] for k in range(len(family))])
    quantile = np.full(len(family), _normal_quantile(family.asked, len(family)))
    low, high = limits.T
    found = _Adjusted(_named("bonferroni", family), low, high, holm(alone.p), quantile)
    return _holding_own(family, alone, found)


def _named(method: str, family: Family) -> NDArray[Any]:
    return np.full(len(family), method, dtype=object)


def _holding_own(family: Family, alone: Alone, found: _Adjusted) -> _Adjusted:
    """Widen simultaneous intervals to hold the one of the pair by itself, within the range."""
    low, high = bounds_of_difference(family.like)
    found.low = np.maximum(np.minimum(found.low, alone.low), np.minimum(low, alone.low))
    found.high = np.minimum(np.maximum(found.high, alone.high), np.maximum(high, alone.high))
    return found


def _bonferroni(family: Family, alone: Alone, k: int) -> tuple[tuple[float, float], float]:
    """Interval at level 1 - (1 - level) / m, and m times the p-value.

    From the bootstrap standard error: quantiles so far out would need many more resamples.
    """
    own, method = (float(alone.low[k]), float(alone.high[k])), str(alone.method[k])
    if np.isnan(alone.p[k]):
        return own, np.nan
    n_pairs, level = len(family), family.asked.confidence_level
    p = min(1.0, n_pairs * float(alone.p[k]))
    if family.identical[k] or (not alone.varies[k] and family.differences[k] == 0):
        return own, p
    difference = family.difference(k)
    if not difference.varies and method not in CLOSED_FORM:
        # Equal differences on all resamples do not show how sure the difference is.
        return difference.evidence.facts.bounds, 1.0
    stricter = 1 - (1 - level) / n_pairs
    method = method if method in CLOSED_FORM else "t"
    alternative = family.alternative(family.swapped[k])
    # The interval of the pair by itself has told that resamples are too few.
    with collected():
        return difference_interval(difference, method, stricter, alternative), p


# ------------------------------------------------------------------ records


def _records(family: Family, alone: Alone, adjusted: _Adjusted | None) -> list[PairedDifference]:
    """Return the record of each pair, in the direction in which it was asked for."""
    asked, swapped, n = family.asked, family.swapped, len(family)
    names = [each.name for each in family.contestants]
    wide = [None] * n if adjusted is None else _intervals(adjusted, swapped, asked)
    signs = None if adjusted is None else adjusted.signs
    columns = {
        "first": np.where(swapped, family.second, family.first).tolist(),
        "second": np.where(swapped, family.first, family.second).tolist(),
        "difference": np.where(swapped, 0.0 - family.differences, family.differences).tolist(),
        "confidence_interval": _intervals(alone, swapped, asked),
        "simultaneous_interval": wide,
        "p_value": alone.p.tolist(),
        "p_value_adjusted": [np.nan] * n if adjusted is None else adjusted.p.tolist(),
        "bootstrap_support": np.where(swapped, 1.0 - alone.support, alone.support).tolist(),
        "standard_error": alone.error.tolist(),
        **_counted(family),
        "simultaneous_quantile": [None] * n if adjusted is None else adjusted.quantile.tolist(),
        "step_down_sign": [None] * n
        if signs is None
        else np.where(swapped, -signs, signs).astype(int).tolist(),
    }
    df = family.like.drawn.degrees_of_freedom
    records = []
    for values in zip(*columns.values(), strict=True):
        pair = dict(zip(columns, values, strict=True))
        pair["first"], pair["second"] = names[pair["first"]], names[pair["second"]]
        closed = pair["confidence_interval"].method in CLOSED_FORM
        records.append(
            PairedDifference(
                **pair,
                degrees_of_freedom=None if closed else df,
                alternative=asked.alternative,
            )
        )
    return records


def _intervals(
    found: Alone | _Adjusted, swapped: NDArray[np.bool_], asked: Asked
) -> list[ConfidenceInterval]:
    """Return the interval of each pair, mirrored where the pair was swapped."""
    low = np.where(swapped, 0.0 - found.high, found.low).tolist()
    high = np.where(swapped, 0.0 - found.low, found.high).tolist()
    level = asked.confidence_level
    return [
        ConfidenceInterval(one, other, level, method)
        for one, other, method in zip(low, high, found.method, strict=True)
    ]


def _counted(family: Family) -> dict[str, list[Any]]:
    """Return the discordant rows of each pair and McNemar's p-value; None without."""
    counts = family.counts
    if counts is None:
        return {"discordant": [None] * len(family), "mcnemar_p_value": [None] * len(family)}
    counts = np.where(family.swapped[:, None], counts[:, ::-1], counts)
    n = len(family.contestants[0].right)  # type: ignore[arg-type]
    return {
        "discordant": [Discordant(one, other, n) for one, other in counts.tolist()],
        "mcnemar_p_value": mcnemar_p_values(
            counts[:, 0], counts[:, 1], family.asked.alternative
        ).tolist(),
    }


# ------------------------------------------------------------------ notes


def _notes(family: Family, alone: Alone, records: Sequence[PairedDifference]) -> Notes:
    """Return what must be known of the differences; ``records`` are in the order of the call."""
    asked, notes = family.asked, Notes()
    same, flat, few = [], [], []
    identical = family.identical[np.argsort(family.places)].tolist()
    for record, is_identical in zip(records, identical, strict=True):
        if is_identical:
            same.append(f"{record.first} and {record.second}")
        elif asked.interval == "auto" and record.confidence_interval.method == "tango":
            few.append(f"{record.first} and {record.second}")
        elif reason := degeneracy(record.confidence_interval):
            flat.append(f"{record.first} and {record.second}: {reason}")
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
    if alone.n_undefined.any():
        most = int(alone.n_undefined.max())
        notes.add("advice", f"Undefined on up to {most} resamples, which are left out.")
    notes += _few(family)
    if family.contestants[0].evidence.facts.of_distances:
        notes += caution_of_distances(family.contestants[0].evidence)
    n_resamples, rest = family.replicates.shape[1], 1 - asked.confidence_level
    sides = 2 if asked.alternative == "two-sided" else 1
    needed = int(np.ceil(sides * len(records) / rest))
    if asked.adjust == "holm" and n_resamples + 1 < needed:
        notes.add(
            "advice",
            f"With {n_resamples} resamples no p-value adjusted by Holm for {len(records)} "
            f"differences can fall below {rest:.2g}: use n_resamples={needed - 1} "
            "or adjust='max-t'.",
        )
    return notes


def _few(family: Family) -> Notes:
    """Return the caution for few units, unless the systems by themselves have a note of it."""
    notes = Notes()
    shared = [note for each in family.contestants for note in each.shared_notes]
    fewest = min(min(each.evidence.drawn.n_units) for each in family.contestants)
    caution = few_compared(family.contestants[0].result.unit, fewest)
    if caution and not any(note.kind == "few" for note in shared):
        notes.add("advice", caution)
    return notes


def _listed(names: Sequence[str], most: int = 5) -> str:
    if len(names) <= most:
        return "; ".join(names)
    return f"{'; '.join(names[:most])}; and {len(names) - most} more"


# ------------------------------------------------------------------ subgroups


def largest_gaps(
    study: Study,
    metric: str,
    families: Mapping[Any, Mapping[str, Contestant]],
    pairs: Sequence[tuple[str, str]],
) -> dict[str, EvaluationResult]:
    """For each pair of systems, the two subgroups between which its difference changes most.

    The intervals are simultaneous over all pairs of subgroups and all pairs of systems.
    """
    rows, statistic = next(iter(study.scores[metric].values()))[0]
    parts = study.parts
    every = [contestant.evidence for family in families.values() for contestant in family.values()]
    subgroups = measured(statistic, rows, parts, every)
    gaps = {}
    for one, other in pairs:
        within = [
            difference_of(families[part.name][one], families[part.name][other]) for part in parts
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
        which = f"The largest of {n_pairs} changes between subgroups"
        if n_pairs == 1:
            which = "The change between the two subgroups"
        of_all = f", with its simultaneous interval over {n_changes} changes"
        notes = [f"{which} of the difference {name}{of_all if n_changes > 1 else ''}."]
        result = make_gap_result(
            study,
            GapBasis(gap, metric=metric, pair=f"{name}: {pair}", of_systems=True),
            notes if n_pairs else [],
            [*kept.cautions, *caution_of_distances(every[0])],
        )
        fixed = ("the trained systems", *result.held_fixed[1:])
        gaps[name] = result._with_provenance(held_fixed=fixed)
    return gaps
