"""Warnings about test data on which no interval does well, from one run or from several.

`cautions_of` looks at what is resampled: few groups or members, and few units that decide a score
(`few_deciding`), such as a small class or a heavy tail. `automatic` and `run_intervals` show what
it finds.
"""

from __future__ import annotations

import math

import numpy as np

from .._base.messages import thousands
from .._base.warnings import Note, collected, say
from ._tuning import (
    FEW_BLOCKS,
    FEW_CARRIERS,
    FEW_CARRY,
    FEW_EQUAL_GROUPS,
    FEW_GROUPS,
    FEW_IN_CLASS,
    FEW_MEMBERS,
    FEW_MISRANKED,
    FEW_OF_CLASS,
    MOST_CARRY,
    SMALL_CLASS,
    UNITS_CARRY,
)
from .evidence import Evidence

# Resamples above which more are not advised: their values would take minutes and gigabytes.
MOST_RESAMPLES = 10**6

# The numbers are those of `benchmarks/coverage/studies/biased_scores.py`.
_OF_DISTANCES = (
    "This metric sums distances and is biased upwards, more so on resamples: 95 % intervals of "
    "differences, averages and runs covered 0 to 92 %. Compare by log loss or Brier score."
)


def cautions_of(evidence: Evidence, *, of_runs: bool = False) -> list[Note]:
    """Warnings about the data that an interval stands on.

    Parameters
    ----------
    evidence : Evidence
        Of the score; of any one run where there are several.
    of_runs : bool
        Whether there are several: a score interval of few groups is of one score.

    Returns
    -------
    list of Note
        None for averages over tasks.
    """
    design = evidence.drawn.design
    if design.averages_tasks:
        return caution_of_distances(evidence)
    with collected() as notes:
        if evidence.facts.optimized:
            say(
                "caution",
                "The best threshold was chosen on these rows, so the value is optimistic: 95 % "
                "intervals, corrected in part, covered 76 to 96 %, those of differences 92 to "
                "96 %.",
            )
        if design.units_are_rows:
            _tell_of_rows(evidence)
        elif design.n_factors == 1:
            tell_of_groups(evidence, of_runs=of_runs)
        else:
            _tell_of_members(evidence)
    return notes


def caution_of_distances(evidence: Evidence) -> list[Note]:
    """Warning that a sum of distances is biased where its interval is not made of its bins.

    Parameters
    ----------
    evidence : Evidence
        Of the score; of any one run, task or system where there are several.

    Returns
    -------
    list of Note
        Empty for other metrics.
    """
    return [Note("caution", _OF_DISTANCES)] if evidence.facts.of_distances else []


def too_few_resamples(n_resamples: int, level: float) -> Note:
    """Return the note that the extreme resample stands for a quantile further out.

    Parameters
    ----------
    n_resamples : int
        Resamples that have a value.
    level : float
        In [0, 1]; of the quantile.

    Returns
    -------
    Note
    """
    tail = min(level, 1 - level)
    beyond = "so little"
    advice = "No practical number of resamples is enough: use more data, or another interval."
    if tail * (MOST_RESAMPLES + 1) >= 1:
        beyond = f"{100 * tail:.3g} %"
        advice = f"Use n_resamples={math.ceil(1 / tail - 1e-6) - 1} or more."
    text = (
        f"{n_resamples} resamples are too few for a quantile with {beyond} beyond it: the most "
        f"extreme is used. {advice}"
    )
    return Note("resamples", text)


def few_deciding(evidence: Evidence) -> str:
    """Return how few units decide a score, and how many would be enough; "" if there are as many.

    One threshold for each use: rows of a class that an area hangs on, that another score of two
    classes does, or an average over classes; rows that the metric knows to decide; and of all
    others, unless the interval is exact for any number, units that carry the variation.
    """
    facts, number, unit = evidence.facts, evidence.n_deciding, evidence.drawn.design.unit
    of_class = facts.of_class
    if evidence.smoothed is not None and (facts.class_sizes is None or len(facts.class_sizes) < 3):
        # Tables that are drawn smoothed hold for any number of rows of two classes (record 0116).
        return ""
    if of_class is not None and evidence.drawn.design.units_are_rows:
        uses = (facts.delong, SMALL_CLASS), (facts.smaller_class, FEW_OF_CLASS)
        enough = next((few for known, few in uses if known is not None), FEW_IN_CLASS)
        if of_class < enough:
            words = "row of the smaller class decides"
            if of_class > 1:
                words = "rows of the smaller class decide"
            rows = f"The {of_class:.0f} {words}"
            if facts.class_sizes is not None:
                rows = f"About {min(round(of_class), enough - 1)} rows of each class decide"
            return f"{rows} {{}} (fewer than {enough})"
    if number is None or (facts.proportion is not None and evidence.independent_rows):
        return ""
    few: float = FEW_CARRIERS
    if number == facts.of_kind or evidence.drawn.design.units_are_rows:
        few = facts.few_of_kind or (FEW_CARRY if facts.delong is None else FEW_MISRANKED)
        if few == FEW_CARRY and not np.isfinite(facts.bounds).all():
            few = min(max(evidence.drawn.n_units[0] / UNITS_CARRY, FEW_CARRY), MOST_CARRY)
    if round(number, 6) >= few:
        return ""
    of_all = f"of the {thousands(evidence.drawn.n_units[0])} {unit}s"
    if number < 0.5:
        return f"None {of_all} moves {{}}, so that nothing shows how much others would"
    about = min(round(number), math.ceil(few) - 1)
    decide = "decides" if about == 1 else "decide"
    return f"About {about} {of_all} {decide} {{}} (fewer than {few:.0f})"


def _tell_of_rows(evidence: Evidence) -> None:
    """Add warnings of errors that may not have been seen, and of few rows that decide."""
    facts = evidence.facts
    if facts.proportion is not None and np.isinf(facts.bounds).sum() == 1:
        say(
            "caution",
            "All errors of these rows are 0 or 1, and the interval assumes that no other errors "
            "occur.",
        )
    if text := few_deciding(evidence):
        say("few", f"{text.format('this score')}: expect less coverage than stated.")


def tell_of_groups(evidence: Evidence, *, of_runs: bool = False) -> None:
    """Tell of few groups, of few that count for their size, or of few that decide the score.

    Parameters
    ----------
    evidence : Evidence
        Of groups, or blocks of rows in time.
    of_runs : bool
        See `cautions_of`.
    """
    drawn, unit = evidence.drawn, evidence.drawn.design.unit
    n_groups, expect = drawn.n_units[0], "expect less coverage than stated."
    n_equal = n_groups if drawn.freedom is None else drawn.freedom[0] + drawn.n_strata
    if n_equal < FEW_EQUAL_GROUPS and round(n_equal) < n_groups:
        say(
            "few",
            f"The {thousands(n_groups)} resampled {unit}s differ in size and are equivalent to "
            f"{math.floor(n_equal)} of equal size (fewer than {FEW_EQUAL_GROUPS}): {expect}",
        )
        return
    enough = FEW_BLOCKS if drawn.design.units_are_blocks else FEW_GROUPS
    if n_groups < enough:
        say(
            "few",
            f"Only {n_groups} {unit}s were resampled (fewer than {enough}): {expect}",
        )
        return
    # A score interval of few groups says itself how many carry the variation.
    if (of_runs or evidence.group_influence is None) and (text := few_deciding(evidence)):
        say("few", f"{text.format('this score')}: {expect}")


def _tell_of_members(evidence: Evidence) -> None:
    """Add warnings of few members on one side, and of what a design is known to cover."""
    fewest = min(evidence.drawn.n_units)
    if fewest < FEW_MEMBERS:
        side = "" if evidence.drawn.design.same_population else " on one side"
        say(
            "few",
            f"Only {fewest} members were resampled{side} (fewer than {FEW_MEMBERS}): "
            "expect less coverage than stated.",
        )
    elif caution := evidence.drawn.design.coverage_caution(evidence.drawn.n_units):
        say("caution", caution)
