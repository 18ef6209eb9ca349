"""Differences between systems: each by itself, and all at once.

The functions take replicates from wherever they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._base.errors import Note, Notes, collected
from ..inference._tuning import FEW_CARRIERS
from ..inference.automatic import caution_of_distances, degeneracy
from ..inference.differences import HOLDS_FOR_FEW
from ..inference.proportions import Discordant, mcnemar_p_values
from ..results import EvaluationResult
from ..results.basis import GapBasis
from ..results.comparison import PairedDifference, few_compared
from ..study.gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of_difference
from ..study.study import Study, make_gap_result
from .asked import Asked
from .contestants import Contestant, difference_of
from .families import records_of
from .pairs_alone import Alone
from .ranked_pairs import RankedPairs
from .replicated import Replicated


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
    family = RankedPairs.of(contestants, pairs, asked)
    with collected() as too_few:
        law = Replicated(family)
    records = records_of(law, pairs, PairedDifference, **_further(family, law))
    return records, [*dict.fromkeys(too_few), *_notes(family, law.found, records)]


def _further(family: RankedPairs, law: Replicated) -> dict[str, Sequence[Any]]:
    """Return what else is known of each pair, by the attribute of its record."""
    support = np.where(family.swapped, 1.0 - law.found.support, law.found.support)
    columns: dict[str, Sequence[Any]] = {
        "bootstrap_support": support[family.order].tolist(),
        "n_deciding": [family.n_deciding(k) for k in family.order.tolist()],
        "reason": np.where(law.found.untold, _same(family), "")[family.order].tolist(),
    }
    if not family.like.drawn.varies:
        return columns | {"reason": [family.like.drawn.why_none.rstrip(".")] * len(family)}
    if family.asked.first_look is not None:
        # Counts and areas serve verdicts and p-values of one look.
        return columns
    if family.has_areas:
        columns["areas"] = [family.areas(k, as_called=True) for k in family.order.tolist()]
    counts = family.counts
    if counts is None and not family.has_areas:
        columns["error_freedom"] = [family.error_freedom(k) for k in family.order.tolist()]
    if counts is None:
        return columns
    counts = np.where(family.swapped[:, None], counts[:, ::-1], counts)[family.order]
    n = len(family.contestants[0].right)  # type: ignore[arg-type]
    p_values = mcnemar_p_values(counts[:, 0], counts[:, 1], family.asked.alternative)
    return columns | {
        "discordant": [Discordant(one, other, n) for one, other in counts.tolist()],
        "mcnemar_p_value": p_values.tolist(),
    }


# ------------------------------------------------------------------ notes


def _notes(family: RankedPairs, alone: Alone, records: Sequence[PairedDifference]) -> Notes:
    """Return what must be known of the differences; ``records`` are in the order of the call."""
    asked, notes = family.asked, Notes()
    same, flat, few = [], [], []
    identical = family.identical[family.order].tolist()
    for record, is_identical in zip(records, identical, strict=True):
        if is_identical:
            same.append(f"{record.first} and {record.second}")
        elif asked.interval == "auto" and record.confidence_interval.method == "tango":
            few.append(f"{record.first} and {record.second}")
        elif family.like.drawn.varies and (
            reason := record.reason or degeneracy(record.confidence_interval)
        ):
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
            f"Fewer than ten discordant rows, so the interval is Tango's: {_listed(few)}.",
        )
    notes += [Note("degenerate", text) for text in flat[:3]]
    if alone.n_undefined.any():
        most = int(alone.n_undefined.max())
        notes.add("advice", f"Undefined on up to {most} resamples, which are left out.")
    notes += _few(family, records)
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


def _same(family: RankedPairs) -> str:
    """Return why few units that all give the same difference give no interval."""
    unit, n_units = family.contestants[0].result.unit, min(family.like.drawn.n_units)
    what = f"All {n_units} {unit}s give"
    return f"{what} the same difference, which does not show how far others would differ."


def _few(family: RankedPairs, records: Sequence[PairedDifference]) -> Notes:
    """Return cautions for differences that few units decide, and for few units of all.

    The latter unless the systems by themselves have a note of it.
    """
    notes, unit = Notes(), family.contestants[0].result.unit
    few = [
        (record, min(round(record.n_deciding), FEW_CARRIERS - 1))
        for record, is_identical in zip(records, family.identical[family.order], strict=True)
        if record.n_deciding is not None
        and record.n_deciding < FEW_CARRIERS
        and record.confidence_interval.method not in HOLDS_FOR_FEW
        and not is_identical
    ]
    if few:
        notes.add(
            "caution",
            f"Few {unit}s decide these differences (fewer than {FEW_CARRIERS}), which are rough: "
            f"{_listed([f'{own.first} and {own.second} (about {n})' for own, n in few])}.",
        )
        return notes
    shared = [note for each in family.contestants for note in each.shared_notes]
    fewest = min(min(each.evidence.drawn.n_units) for each in family.contestants)
    caution = few_compared(unit, fewest)
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
    first, parts = next(iter(study.scores[metric].values()))[0], study.parts
    every = [contestant.evidence for family in families.values() for contestant in family.values()]
    subgroups = measured(first.statistic, first.rows, parts, every)
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
                side_of_difference(first.statistic, subgroups[k], evidence[k], within[k].discordant)
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
