"""Warnings about test data on which no interval does well, from one run or from several.

`cautions_of` looks at what is resampled: few rows, groups or members, a small class, one row that
carries much of the sum. `automatic` and `run_intervals` show what it finds.
"""

from __future__ import annotations

import math

import numpy as np

from .._base.messages import thousands
from .._base.warnings import Note, collected, say
from ._tuning import (
    FEW_BLOCKS,
    FEW_DECIDING,
    FEW_EQUAL_GROUPS,
    FEW_GROUPS,
    FEW_IN_CLASS,
    FEW_MEMBERS,
    FEW_OF_CLASS,
    FEW_ROWS,
    HEAVY_ROWS,
    HEAVY_SHARE,
    NEAR_ONE,
    SMALL_CLASS,
)
from .evidence import Evidence

# Resamples above which more are not advised: their values would take minutes and gigabytes.
MOST_RESAMPLES = 10**6

# The numbers are those of `benchmarks/coverage/studies/biased_scores.py`.
_OF_DISTANCES = (
    "This metric sums distances and is biased upwards, more so on resamples: 95 % intervals of "
    "differences, averages and runs covered 0 to 92 %. Compare by log loss or Brier score."
)


def cautions_of(evidence: Evidence) -> list[Note]:
    """Warnings about the data that an interval stands on.

    Parameters
    ----------
    evidence : Evidence
        Of the score; of any one run where there are several.

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
            tell_of_groups(evidence)
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


def _tell_of_rows(evidence: Evidence) -> None:
    """Add warnings of a small class, of few rows and of one row that carries much of the sum."""
    _tell_of_two_classes(evidence)
    facts, n_rows = evidence.facts, evidence.drawn.n_units[0]
    share = facts.largest_share if facts.proportion is None else None
    if facts.proportion is not None and np.isinf(facts.bounds).sum() == 1:
        say(
            "caution",
            "All errors of these rows are 0 or 1, and the interval assumes that no other errors "
            "occur.",
        )
    # Of shares, areas and averages over classes the rows that decide are counted instead.
    counted = (facts.proportion, facts.smaller_class, facts.delong, facts.class_sizes)
    if n_rows < FEW_ROWS and all(count is None for count in counted):
        say(
            "few",
            f"Only {n_rows} rows were resampled (fewer than {FEW_ROWS}): expect "
            "less coverage than stated.",
        )
    if share is not None and share > max(HEAVY_SHARE, HEAVY_ROWS / n_rows):
        say(
            "caution",
            f"One row carries {share:.0%} of the sum: with tails this heavy no interval "
            "attains its nominal coverage.",
        )
    _tell_of_small_classes(evidence)


def _tell_of_two_classes(evidence: Evidence) -> None:
    """Add warnings where few rows of one class, or few rows out of order, decide a score."""
    few = evidence.facts.smaller_class
    if few is not None and few < FEW_OF_CLASS:
        say(
            "few",
            f"The smaller class has {few} rows (fewer than {FEW_OF_CLASS}): expect less coverage "
            "than stated.",
        )
    area = evidence.facts.delong
    if area is None:
        return
    if area.smaller_class < SMALL_CLASS:
        say(
            "few",
            f"The smaller class has {area.smaller_class} rows (fewer than {SMALL_CLASS}): "
            "intervals of the area under the ROC curve tend to be too short.",
        )
    # Of several runs none is known to be near 1.
    if max(evidence.estimate, 1 - evidence.estimate) > NEAR_ONE:
        say(
            "few",
            f"The area under the ROC curve is within {1 - NEAR_ONE:.2g} of 0 or 1: the interval "
            "rests on the few misranked rows, and tends to be too short.",
        )


def _tell_of_small_classes(evidence: Evidence) -> None:
    """Add a warning where classes of few rows decide an average over classes."""
    if evidence.facts.class_sizes is None:
        return
    # A class of n rows brings a variance of about 1 / n with n - 1 degrees of freedom.
    parts = 1 / evidence.facts.class_sizes
    df = parts.sum() ** 2 / np.sum(parts**2 / np.maximum(evidence.facts.class_sizes - 1, 1))
    if 1 / parts.mean() < FEW_IN_CLASS or df < FEW_IN_CLASS - 1:
        few = np.count_nonzero(evidence.facts.class_sizes < FEW_IN_CLASS)
        say(
            "caution",
            f"{few} of {len(parts)} classes have fewer than {FEW_IN_CLASS} rows, which is too few "
            "for an average over classes: expect less coverage than stated.",
        )


def tell_of_groups(evidence: Evidence) -> None:
    """Tell of few groups, of few that count for their size, or of few that decide the score.

    Parameters
    ----------
    evidence : Evidence
        Of groups, or blocks of rows in time; estimate NaN where no decisions are known.
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
    # Of several runs, whose estimate is not known here, each has its own erring groups.
    erring, right = evidence.deciding_groups or (FEW_DECIDING, FEW_DECIDING)
    if min(erring, right) < FEW_DECIDING and not np.isnan(evidence.estimate):
        what, few = "wrong" if erring <= right else "right", min(erring, right)
        text = (
            f"Only {few} of the {thousands(n_groups)} {unit}s have {what} decisions (fewer than "
            f"{FEW_DECIDING}): the estimated variation between {unit}s rests on these few."
        )
        if not few:
            text = f"No {unit} has a {what} decision: nothing shows how much {unit}s differ."
        say("few", text)


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
